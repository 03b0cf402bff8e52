package admit_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

// A test event keeps to max_in_flight: it comes again after a second, and takes the slot that is free
// by then.
func TestGate_ATestEventWaitsForASlot(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := active()
	e.MaxInFlight = 1
	running := w.admit(w.slotQuery(e, 0, 1))
	q := w.query(e, 1, 1)
	q.Due[0].Test = true
	want := []admission.Verdict{{Decision: admission.Move, Queue: hook.QueueRetry, Until: w.Clock.Now().Add(time.Second)}}
	if diff := cmp.Diff(want, w.admit(q).Verdicts); diff != "" {
		t.Errorf("with a full endpoint (-want +got):\n%s", diff)
	}
	w.end(running)
	if v := w.admit(q).Verdicts[0]; v.Decision != admission.Admit || v.Lease.Key == "" {
		t.Errorf("with a free slot: %+v; want the slot", v)
	}
}

// A paused or disabled endpoint gets no test event.
func TestGate_ParksATestEventOfAnEndpointThatRests(t *testing.T) {
	t.Parallel()

	for status, reason := range map[hook.Status]hook.Reason{hook.StatusPaused: hook.ReasonPaused, hook.StatusDisabled: hook.ReasonDisabled} {
		w := setup(t)
		e := active()
		e.Status = status
		q := w.query(e, 0, 1)
		q.Due[0].Test = true
		if diff := cmp.Diff([]admission.Verdict{{Decision: admission.Park, Reason: reason}}, w.admit(q).Verdicts); diff != "" {
			t.Errorf("%s (-want +got):\n%s", status, diff)
		}
	}
}
