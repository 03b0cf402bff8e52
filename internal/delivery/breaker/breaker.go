package breaker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"surehook.example/surehook/internal/conflict"
	"surehook.example/surehook/internal/delivery/parallel"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
)

const (
	// maxSaveAttempts limits the tries of writing a circuit or an endpoint. After a conflict
	// another writer has succeeded, so 5 tries tolerate 4 concurrent writers.
	maxSaveAttempts = 5
	// reconcileReserve is the time that an invocation must have left to begin another endpoint.
	reconcileReserve = 10 * time.Second
	// maxParallel limits the endpoints, or the deliveries of one endpoint, processed at the same time.
	maxParallel = 8
)

var errNoTime = errors.New("too little time left in this invocation")

// Breaker reconciles and reviews endpoints. All fields but Wait are required. With an empty
// environment in Metrics, no metrics are written.
type Breaker struct {
	Store        Store
	Queue        Queue
	DeadLetters  DeadLetters
	CircuitQueue CircuitQueue
	Completer    settle.Completer
	Releaser     Releaser
	Notifier     settle.Notifier
	Metrics      emf.Set
	Log          *slog.Logger
	Now          func() time.Time
	Wait         conflict.Wait // between two tries of a write; nil: by the real clock
}

// hasTime reports whether the invocation has at least the reserve left.
func (b *Breaker) hasTime(ctx context.Context, reserve time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return !ok || deadline.Sub(b.Now()) >= reserve
}

// Reconcile reads the endpoint of the check and does the first applicable row of the table in
// the package documentation. After an error the caller may call it again; if not, Tick repeats
// the check.
//
// An error of a single delivery does not stop the check: Reconcile goes on with the probe or
// the release, and returns the error at the end.
func (b *Breaker) Reconcile(ctx context.Context, check hook.CircuitCheck) (err error) {
	r := reconciliation{Breaker: b, check: check}
	defer func() {
		if err != nil {
			err = fmt.Errorf("reconcile endpoint %s: %w", check.Endpoint, err)
		}
		r.logReconciliation(ctx, err)
	}()
	defer parallel.Recover(&err)
	if !b.hasTime(ctx, reconcileReserve) {
		return errNoTime
	}
	err = conflict.Repeat(ctx, b.Wait, maxSaveAttempts, func() error { return r.reconcileEndpoint(ctx) })
	if r.decision == decideStale {
		return err // the check of the current wave reports the faults
	}
	return errors.Join(append(r.faults, err)...)
}

// forEach calls f for 0 to n-1, maxParallel calls at a time, and returns the errors.
func forEach(n int, f func(i int) error) []error { return parallel.Each(n, maxParallel, f) }
