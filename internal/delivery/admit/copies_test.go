package admit_test

import (
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
)

// Two receipts of one message probe at the same time. The first failure opens the circuit, but
// the next probe waits for the end of the shared lease. Without that, simulator seed 4195 makes a
// third probe.
func TestGate_CopiesOfATaskShareTheProbe(t *testing.T) {
	t.Parallel()

	for _, first := range []int{0, 1} {
		w := setup(t)
		e := active()
		e.Circuit.Cooldown = time.Second
		w.settle(w.admit(w.query(e, 0, 5)), hook.ClassDNS, hook.ClassDNS, hook.ClassDNS, hook.ClassDNS, hook.ClassDNS)
		w.Clock.Pass(time.Second)
		var copies []admission.Admission
		for range 2 {
			copies = append(copies, w.admit(w.query(e, 0, 1)))
			w.Clock.Pass(time.Second)
		}
		until := w.record().LeaseUntil
		w.settle(copies[first], hook.ClassTimeout)
		r := w.record()
		if r.State != circuit.Open || r.Cooldown != 1500*time.Millisecond || !r.NextProbe().Equal(until) {
			t.Errorf("after the failure of copy %d: %+v; want open, cooldown 1.5 s, next probe at %s", first, r, until)
		}
		w.settle(copies[1-first], hook.ClassTimeout)
		if got := w.record(); got != r {
			t.Errorf("after the failure of the other copy: %+v; want no change", got)
		}
		w.settle(copies[1-first], hook.ClassDelivered)
		if got := w.record().State; got != circuit.Closed {
			t.Errorf("after a success of the other copy: %s; want closed", got)
		}
	}
}

// A message that comes again after its lease has ended does not share the lease.
func TestGate_ReturnAfterTheLeaseIsNotShared(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := active()
	e.Circuit.Cooldown = time.Second
	w.settle(w.admit(w.query(e, 0, 5)), hook.ClassDNS, hook.ClassDNS, hook.ClassDNS, hook.ClassDNS, hook.ClassDNS)
	w.Clock.Pass(time.Second)
	w.admit(w.query(e, 0, 1)) // the process dies
	w.Clock.Pass(circuit.ProbeLease)
	w.settle(w.admit(w.query(e, 0, 1)), hook.ClassTimeout)
	if r := w.record(); r.State != circuit.Open || !r.ProbeAt.Equal(w.Clock.Now().Add(w.Clock.Now().Sub(start)/2)) {
		t.Errorf("record = %+v; want open for half of the outage so far", r)
	}
}
