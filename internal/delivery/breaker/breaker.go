package breaker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"

	"surehook/internal/delivery/gate"
	"surehook/internal/emf"
	"surehook/internal/hook"
)

const (
	// attendTries bounds how often a look begins anew because the gate wrote the
	// record first. Every lost race is the gate's progress.
	attendTries = 5
	// attendReserve is what an invocation must have left for a look to begin.
	attendReserve = 10 * time.Second
	// atOnce is how many endpoints, or deliveries of one, are worked on at the same time.
	atOnce = 8
)

var errNoTime = errors.New("too little time is left in this invocation")

// Breaker looks after endpoints. All fields are needed; without an environment
// in Metrics there are none.
type Breaker struct {
	Store        Store
	Queue        Queue
	DeadLetters  DeadLetters
	CircuitQueue gate.CircuitQueue
	Settlement   Settlement
	Notifier     gate.Notifier
	Metrics      emf.Set
	Log          *slog.Logger
	Now          func() time.Time
}

// Reconcile looks at the endpoint and does what its state asks for. After an error
// it may be called again; if it is not, the tick does it.
func (b *Breaker) Reconcile(ctx context.Context, look hook.CircuitCheck) (err error) {
	v := reconciliation{Breaker: b, look: look}
	defer func() {
		// A panic over one endpoint must not take the others with it.
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
		if err != nil {
			err = fmt.Errorf("attend to endpoint %s: %w", look.Endpoint, err)
		}
		v.logCheck(ctx, err)
	}()
	if deadline, ok := ctx.Deadline(); ok && deadline.Sub(b.Now()) < attendReserve {
		return errNoTime
	}
	for range attendTries {
		if err = v.reconcileEndpoint(ctx); err == nil || hook.CodeOf(err) != hook.CodeConflict {
			break
		}
	}
	return err
}

// each calls f for 0 to n-1, atOnce at a time, and returns the errors.
func each(n int, f func(i int) error) []error {
	errs := make([]error, n)
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i := range n {
		group.Go(func() error {
			errs[i] = f(i)
			return nil // each has its own error
		})
	}
	_ = group.Wait()
	var faults []error
	for _, err := range errs {
		if err != nil {
			faults = append(faults, err)
		}
	}
	return faults
}
