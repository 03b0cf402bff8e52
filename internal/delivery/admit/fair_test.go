package admit_test

import (
	"slices"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

// A retry waits behind new deliveries for a minute per attempt, and no longer.
func TestFill_ARetryAges(t *testing.T) {
	t.Parallel()

	for waited, want := range map[time.Duration]string{2*time.Minute - time.Second: "1", 2 * time.Minute: "0"} {
		w := setupSlots(t, func(e *hook.Endpoint, _ *admission.Record) { e.MaxInFlight = 1 })
		w.park(2, 0, 0)
		w.clock.Pass(w.parked[0].UpdatedAt.Add(waited).Sub(w.clock.Now()))
		if _, err := w.fill(); err != nil || w.sent() != want {
			t.Errorf("after %s Fill() sent %q, %v; want %s", waited, w.sent(), err, want)
		}
	}
}

// After a failed attempt, the slot goes to a younger delivery. After a success it goes to the oldest.
func TestHandOver_AfterAFailureToAYoungerDelivery(t *testing.T) {
	t.Parallel()

	for _, failed := range []bool{false, true} {
		w := setupSlots(t, func(e *hook.Endpoint, _ *admission.Record) { e.MaxInFlight = 1 })
		attempts := slices.Repeat([]int{1}, 61) // the window after the failure begins in the middle
		attempts[40] = 0
		w.park(attempts...)
		slot := w.lease(-1, time.Minute)
		s := admit.Freed{Tenant: w.endpoint.Tenant, ID: w.endpoint.ID, Endpoint: &w.endpoint, Held: []admission.Held{slot}, Leased: 1}
		want := "0"
		if failed {
			s.Failed, s.Last, want = true, w.parked[0].CreatedAt, "40"
		}
		if err := w.HandOver(w.world.Context(), s); err != nil || w.sent() != want {
			t.Errorf("after a failure (%t) HandOver() sent %q, %v; want %s", failed, w.sent(), err, want)
		}
	}
}
