package admission_test

import (
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
)

// The probes of a new outage begin with the oldest delivery, whichever one the last probe of the outage
// before had, and await no task of that one.
func TestRecord_Trip_ForgetsTheLastProbe(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, time.May, 4, 12, 0, 0, 0, time.UTC)
	r := admission.NewRecord("acme", "ep_1")
	r.ProbeType, r.ProbedFrom, r.ProbeSentAt = "order.paid", now.Add(-time.Hour), now.Add(-time.Second)
	if r = r.Trip(circuit.Settings{CircuitSettings: hook.CircuitSettings{}.WithDefaults()}, now); r.ProbeType != "" || !r.ProbedFrom.IsZero() || !r.ProbeSentAt.IsZero() {
		t.Errorf("Trip() keeps the probe of %q from %s, sent at %s", r.ProbeType, r.ProbedFrom, r.ProbeSentAt)
	}
}

// The timeout that a review shortened may be what an endpoint fails by: probes, and attempts after a mend, have its own.
func TestRecord_EndsAShortenedTimeout(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, time.May, 4, 12, 0, 0, 0, time.UTC)
	r := admission.NewRecord("acme", "ep_1")
	r.Review.Slow, r.Review.Timeout = true, 7*time.Second
	for name, got := range map[string]admission.Record{
		"an opening": r.Trip(circuit.Settings{CircuitSettings: hook.CircuitSettings{}.WithDefaults()}, now), "a mend": r.Mended(false, now),
	} {
		if got.Review.Timeout != 0 || !got.Review.Slow {
			t.Errorf("%s leaves %+v; want the endpoint's own timeout, and a slow endpoint", name, got.Review)
		}
	}
}

// What the owner did may end the trouble: a probe that was sent before, and perhaps never comes, delays no other.
func TestRecord_Mended_SendsAProbeAtOnce(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, time.May, 4, 12, 0, 0, 0, time.UTC)
	r := admission.NewRecord("acme", "ep_1").Trip(circuit.Settings{CircuitSettings: hook.CircuitSettings{}.WithDefaults()}, now)
	r.ProbeSentAt = now.Add(time.Minute)
	now = now.Add(time.Minute + 20*time.Second)
	for name, got := range map[string]admission.Record{"Mended()": r.Mended(false, now), "Release()": r.Suspect(now).Release(now)} {
		if !got.ProbeSentAt.IsZero() || !got.ProbeDue(now) || got.AttendAt.After(now) {
			t.Errorf("%s = %+v; want a probe at once", name, got)
		}
	}
}
