package admit_test

import (
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

// After an outage an endpoint has one slot, whatever the answers of the outage were, and at most 20 in
// the first minute.
func TestGate_OneSlotAfterAnOutage(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.openUntilProbe()
	late := admit.Freed{
		Tenant: tenant, ID: endpoint, Endpoint: active(),
		Held: []admission.Held{{Key: "late", Lease: admission.Lease{Nonce: "n", Run: "r"}}}, Answers: []admission.Answer{{OK: false}},
	}
	if err := w.Gate.HandOver(w.Context(), late); err != nil {
		t.Fatal(err)
	}
	w.settle(w.admit(w.overflowQuery(active(), 10, 1)), hook.ClassDelivered)
	open := func(limits admission.Limits) int {
		r := w.record()
		return r.SlotsNow(limits, admission.MaxSlots, w.Clock.Now())
	}
	limits, err := w.Store.Limits(w.Context(), endpoint)
	if got := open(limits); err != nil || got != 1 {
		t.Errorf("%d slots, %v; want one", got, err)
	}
	for range 100 {
		limits = limits.Answered(admission.Answer{OK: true}, 1, w.record().SpeedAt, w.Clock.Now())
	}
	if got := open(limits); got != 20 {
		t.Errorf("%d slots in the first minute; want 20", got)
	}
	w.Clock.Pass(time.Minute)
	if got := open(limits); got < 100 {
		t.Errorf("%d slots after a minute; want all that the answers allow", got)
	}
}
