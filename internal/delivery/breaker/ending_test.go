package breaker_test

import (
	"errors"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

var errBroken = errors.New("broken")

// expired returns the ages of n deliveries past max_age, the oldest first.
func expired(n int) []time.Duration {
	list := ages(n)
	for i := range list {
		list[i] += hook.DefaultMaxAge + time.Minute
	}
	return list
}

// If ending the deliveries takes more than one check, AttendAt is moved, so that the tick does
// not start again in parallel.
func TestEnding_IsNotStartedTwice(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(nil)
	ids := w.park(e, expired(1100)...)
	w.record(e, closed(0, -time.Minute))
	b := w.Breaker()
	for i := range 2 {
		if err := b.Tick(w.Context()); err != nil {
			t.Fatalf("Tick() = %v", err)
		}
		if len(w.Checks) != 1 {
			t.Errorf("after tick %d: %d circuit checks; want 1", i+1, len(w.Checks))
		}
	}
	if got := w.Circuit(e).AttendAt; !got.Equal(start.Add(admission.AttendAfter)) {
		t.Errorf("AttendAt is %s from now; want %s", got.Sub(start), admission.AttendAfter)
	}
	w.RunFor(10 * time.Second)
	if got, want := w.States(ids), "1100 dead expired"; got != want {
		t.Errorf("deliveries are %s; want %s", got, want)
	}
	if n := len(w.Checks); n != 2 {
		t.Errorf("%d circuit checks; want 2: one for each further 500", n)
	}
}

// If a process dies while it ends deliveries, the tick continues.
func TestEnding_IsContinuedByTheTick(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(nil)
	ids := w.park(e, expired(600)...)
	w.record(e, closed(0, 0))
	w.Calls.Fail = func(call string, _ hook.EndpointID) error {
		if call == "enqueue check" {
			return errBroken
		}
		return nil
	}
	if err := w.Breaker().Tick(w.Context()); !errors.Is(err, errBroken) {
		t.Fatalf("Tick() = %v; want %v", err, errBroken)
	}
	w.Clock.Pass(admission.AttendAfter)
	if err := w.Breaker().Tick(w.Context()); err != nil || w.States(ids) != "600 dead expired" {
		t.Errorf("Tick() = %v, deliveries are %s; want 600 dead expired", err, w.States(ids))
	}
}
