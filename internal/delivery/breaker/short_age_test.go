package breaker_test

import (
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/world"
)

// If the cooldown is longer than max_age, every delivery of the outage expires while it is
// parked, so none is left for the probe. The first event after the cooldown is then the probe,
// and the endpoint works again.
func TestOutage_EndsAfterACooldownLongerThanMaxAge(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(func(e *hook.Endpoint) {
		e.MaxAge = time.Minute
		e.Circuit = hook.CircuitSettings{Cooldown: time.Hour, MaxCooldown: time.Hour}
	})
	w.open(e)
	w.Answer = world.Always(200)
	during := w.PostMany(e, 3)
	w.RunFor(30 * time.Minute)
	if got, want := w.States(during), "3 dead expired"; got != want {
		t.Errorf("the events of the outage are %s; want %s", got, want)
	}
	w.RunFor(31 * time.Minute)
	first := w.PostMany(e, 1)
	w.RunFor(10 * time.Second)
	after := w.PostMany(e, 3)
	w.RunFor(30 * time.Second)
	if got, want := w.States(append(first, after...)), "4 delivered"; got != want {
		t.Errorf("the events after the cooldown are %s; want %s", got, want)
	}
}
