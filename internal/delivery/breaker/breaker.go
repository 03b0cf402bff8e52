package breaker

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/delivery/parallel"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/store"
)

const (
	// reserve is the time that an invocation must have left to begin another endpoint, or another
	// delivery of a sweep.
	reserve = 10 * time.Second
	// maxParallel limits the endpoints, or the deliveries of one endpoint, processed at the same time.
	maxParallel = 8
)

var errNoTime = errors.New("too little time left in this invocation")

// Breaker brings deliveries back, and reviews endpoints. All fields but Wait are required. With an
// empty environment in Metrics, no metrics are written.
type Breaker struct {
	Store        Store
	Queue        Queue
	DeadLetters  DeadLetters
	CircuitQueue CircuitQueue
	Notifier     settle.Notifier
	Metrics      emf.Set
	Log          *slog.Logger
	Now          func() time.Time
	Wait         store.Wait // between two tries of a write; nil: by the real clock
}

// circuits are the circuit records of endpoints.
func (b *Breaker) circuits() store.Table[hook.CircuitCheck, admission.Record] {
	return admit.Circuits(b.Store, b.Wait)
}

func (b *Breaker) orders() settle.Orders {
	return settle.Orders{Store: b.Store, Queue: b.Queue, Now: b.Now, Wait: b.Wait}
}

// completion completes what the breaker ends.
func (b *Breaker) completion() settle.Completion {
	return settle.Completion{Store: b.Store, Queue: b.Queue, DeadLetters: b.DeadLetters, Notifier: b.Notifier, Log: b.Log, Now: b.Now, Wait: b.Wait}
}

// saveDelivery saves the delivery. saved is false after a conflict: the write of the other
// process stands.
func (b *Breaker) saveDelivery(ctx context.Context, d hook.Delivery) (saved bool, err error) {
	err = b.Store.SaveDelivery(ctx, d, nil)
	if err != nil && hook.CodeOf(err) == hook.CodeConflict {
		return false, nil
	}
	return err == nil, err
}

// hasTime reports whether the invocation has at least d left.
func (b *Breaker) hasTime(ctx context.Context, d time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return !ok || deadline.Sub(b.Now()) >= d
}

// forEach calls f for 0 to n-1, maxParallel calls at a time, and returns the errors.
func forEach(n int, f func(i int) error) []error { return parallel.Each(n, maxParallel, f) }
