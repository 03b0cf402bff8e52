package gate_test

import (
	"testing"
	"time"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
)

// Two receipts of one message attempt at the same time. The end of the first attempt
// frees no slot, in either order, until the lease ends. Simulator seed 462 shows the
// third attempt.
func TestGate_CopiesOfAMessageFreeNoSharedSlot(t *testing.T) {
	t.Parallel()

	for _, first := range []int{0, 1} {
		w := setup(t)
		e := active()
		e.MaxInFlight = 1
		var copies []gate.Admission
		for range 2 {
			copies = append(copies, w.admit(w.query(e, 0, 1)))
			w.Clock.Pass(time.Second)
		}
		for i, a := range copies {
			if got := decisions(a); got != "admit" {
				t.Fatalf("copy %d: %s; want admitted", i, got)
			}
		}
		w.settle(copies[first], hook.ClassDelivered)
		if got := decisions(w.admit(w.query(e, 1, 1))); got != "delay" {
			t.Errorf("after the end of copy %d: %s; want delayed: the other copy is in flight", first, got)
		}
		w.settle(copies[1-first], hook.ClassDelivered)
		w.Clock.Until(start.Add(time.Second + gate.LeaseFor))
		if got := decisions(w.admit(w.query(e, 1, 1))); got != "admit" {
			t.Errorf("after the end of the lease: %s; want admitted", got)
		}
	}
}

func TestGate_OwnLeaseWithALostAnswerIsNotShared(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Clock.Pass(time.Nanosecond) // finer than the store
	w.Calls.LoseAnswer = "save limits"
	e := active()
	e.MaxInFlight = 1
	w.settle(w.admit(w.query(e, 0, 1)), hook.ClassDelivered)
	if got := decisions(w.admit(w.query(e, 1, 1))); got != "admit" {
		t.Errorf("after the end of the attempt: %s; want admitted", got)
	}
}
