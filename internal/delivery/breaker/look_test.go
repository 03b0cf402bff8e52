package breaker_test

import (
	"context"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/breaker"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
)

// lagging is a store whose index lists no parked delivery until the given time.
type lagging struct {
	breaker.Store

	now   func() time.Time
	until time.Time
}

func (s lagging) Parked(ctx context.Context, target hook.Target, since time.Time, limit int) ([]hook.Delivery, error) {
	if s.now().Before(s.until) {
		return nil, nil
	}
	return s.Store.Parked(ctx, target, since, limit)
}

// The breaker forgets an endpoint while the index lags, looks again, and finds the delivery. So
// the delivery ends at max_age, with a dead letter.
func TestLook_findsAForgottenDelivery(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		lag    time.Duration
		maxAge time.Duration
		status hook.Status
	}{
		{lag: time.Minute, maxAge: 3 * time.Hour, status: hook.StatusPaused}, // never forgotten
		{lag: 5 * time.Minute, maxAge: 3 * time.Hour, status: hook.StatusPaused},
		{lag: 5 * time.Minute, maxAge: 10 * time.Minute, status: hook.StatusPaused}, // shorter than the time to the first look
		{lag: 50 * time.Minute, maxAge: 3 * time.Hour, status: hook.StatusPaused},
		{lag: 170 * time.Minute, maxAge: 3 * time.Hour, status: hook.StatusPaused},
		{lag: 5 * time.Minute, maxAge: 3 * time.Hour, status: hook.StatusActive},
	} {
		t.Run(tt.lag.String()+" "+tt.maxAge.String()+" "+tt.status.String(), func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			e := w.Endpoint(func(e *hook.Endpoint) { e.MaxAge, e.Status = tt.maxAge, tt.status })
			id := w.park(e, time.Second)[0]
			w.open(e)
			b := w.Breaker()
			b.Store = lagging{Store: b.Store, now: w.Clock.Now, until: w.Clock.Now().Add(tt.lag)}
			w.CircuitQueue = memory.NewCircuitQueue(w.Clock.Now) // all messages are lost
			for minute := range int(tt.maxAge/time.Minute) + 60 {
				if err := b.Tick(w.Context()); err != nil {
					t.Fatal(err)
				}
				if minute%5 == 0 {
					if err := b.Look(w.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if tt.status == hook.StatusActive && len(w.Queue.Receive(hook.LaneRetry, 1)) > 0 {
					return // the probe
				}
				w.Clock.Pass(time.Minute)
			}
			if d := w.Delivery(id); d.State != hook.StateDead || d.Reason != hook.ReasonExpired || len(w.DeadLetters.Letters()) != 1 {
				t.Errorf("%s (%s) with %d letters; want dead and expired with 1", d.State, d.Reason, len(w.DeadLetters.Letters()))
			}
			if r := w.Circuit(e); r.State.String() == "closed" && !r.LookAt.IsZero() && r.LookAt.Before(w.Clock.Now()) {
				t.Errorf("a look is planned for %s, which is past", r.LookAt)
			}
		})
	}
}

// Looks stop: an endpoint without parked deliveries leaves the list.
func TestLook_ends(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(func(e *hook.Endpoint) { e.MaxAge = 72 * time.Hour })
	w.open(e)
	b, looks := w.Breaker(), 0
	for range 80 * 12 {
		due, err := w.Store.DueLooks(t.Context(), w.Clock.Now(), 10)
		if err != nil {
			t.Fatal(err)
		}
		looks += len(due)
		if err := b.Look(w.Context()); err != nil {
			t.Fatal(err)
		}
		if err := b.Tick(w.Context()); err != nil {
			t.Fatal(err)
		}
		w.Clock.Pass(5 * time.Minute)
	}
	if r := w.Circuit(e); looks < 8 || looks > 12 || !r.LookAt.IsZero() || !r.LookFrom.IsZero() {
		t.Errorf("%d looks in 80 hours, the next at %s; want about 10, and none left", looks, r.LookAt)
	}
}
