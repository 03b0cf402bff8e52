package breaker_test

import (
	"context"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/delivery/breaker"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/rule/circuit"
)

// lagging is a store whose index lists no parked delivery until the given time.
type lagging struct {
	breaker.Store

	now   func() time.Time
	until time.Time
}

func (s lagging) Parked(ctx context.Context, target hook.Target, since time.Time, limit int, but admit.Except) ([]hook.Delivery, error) {
	if s.now().Before(s.until) {
		return nil, nil
	}
	return s.Store.Parked(ctx, target, since, limit, but)
}

// The breaker forgets an endpoint while the index lags, looks again, and finds the delivery. The
// delivery of a paused endpoint then ends at max_age with a dead letter, and that of an active
// endpoint becomes the probe.
func TestLook_findsAForgottenDelivery(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name      string
		lag       time.Duration
		maxAge    time.Duration
		status    hook.Status
		forgotten bool // the lag is longer than the cooldown and the time to forget the endpoint
	}{
		{name: "a lag too short to forget the endpoint", lag: 2 * time.Minute, maxAge: 3 * time.Hour, status: hook.StatusPaused},
		{name: "a lag until the first look", lag: 10 * time.Minute, maxAge: 3 * time.Hour, status: hook.StatusPaused, forgotten: true},
		{name: "a max_age shorter than the time to the first look", lag: 10 * time.Minute, maxAge: 10 * time.Minute, status: hook.StatusPaused, forgotten: true},
		{name: "a lag until a later look", lag: 50 * time.Minute, maxAge: 3 * time.Hour, status: hook.StatusPaused, forgotten: true},
		{name: "a lag until the last look", lag: 170 * time.Minute, maxAge: 3 * time.Hour, status: hook.StatusPaused, forgotten: true},
		{name: "an active endpoint", lag: 10 * time.Minute, maxAge: 3 * time.Hour, status: hook.StatusActive, forgotten: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			e := w.Endpoint(func(e *hook.Endpoint) { e.MaxAge, e.Status = tt.maxAge, tt.status })
			id := w.park(e, time.Second)[0]
			w.open(e)
			b := w.Breaker()
			b.Store = lagging{Store: b.Store, now: w.Clock.Now, until: w.Clock.Now().Add(tt.lag)}
			w.CircuitQueue = memory.NewCircuitQueue(w.Clock.Now) // all messages are lost
			var forgotten, probed bool
			for minute := 0; minute < int(tt.maxAge/time.Minute)+60 && !probed; minute++ {
				if err := b.Tick(w.Context()); err != nil {
					t.Fatal(err)
				}
				forgotten = forgotten || !w.Circuit(e).LookFrom.IsZero() && w.Delivery(id).State == hook.StateParked
				if minute%5 == 0 {
					if err := b.Look(w.Context()); err != nil {
						t.Fatal(err)
					}
				}
				probed = len(w.Queue.Receive(hook.QueueRetry, 1)) > 0
				w.Clock.Pass(time.Minute)
			}
			if active := tt.status == hook.StatusActive; forgotten != tt.forgotten || probed != active {
				t.Errorf("forgotten: %t, probed: %t; want %t, %t", forgotten, probed, tt.forgotten, active)
			}
			if probed {
				return
			}
			if d := w.Delivery(id); d.State != hook.StateDead || d.Reason != hook.ReasonExpired || len(w.DeadLetters.Letters()) != 1 {
				t.Errorf("%s (%s) with %d letters; want dead and expired with 1", d.State, d.Reason, len(w.DeadLetters.Letters()))
			}
			if r := w.Circuit(e); r.State == circuit.Closed && !r.LookAt.IsZero() && r.LookAt.Before(w.Clock.Now()) {
				t.Errorf("a look is planned for %s, which is past", r.LookAt)
			}
		})
	}
}

func TestLook_endsWithoutParkedDeliveries(t *testing.T) {
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
		t.Errorf("%d looks in 80 hours, the next at %s; want 8 to 12, and none left", looks, r.LookAt)
	}
}
