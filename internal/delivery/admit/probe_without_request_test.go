package admit_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/proof/world"
)

// openUntilProbe opens the circuit and waits until a probe is due.
func (w *bundle) openUntilProbe() {
	w.T.Helper()

	w.settle(w.admit(w.query(active(), 0, 5)), hook.ClassDNS, hook.ClassDNS, hook.ClassDNS, hook.ClassDNS, hook.ClassDNS)
	r := w.record()
	if r.State != circuit.Open {
		w.T.Fatalf("the circuit is %s; want open", r.State)
	}
	w.Clock.Until(r.ProbeAt)
	w.Checks = nil
}

// A probe whose event the transformation cannot shape makes no request. Its lease is free
// again: the next task is the probe at once, or the breaker sends a parked one a second later.
func TestGate_ProbeWithoutARequestGivesItsLeaseBack(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.openUntilProbe()
	before := w.record()
	w.Clock.Pass(time.Second)
	w.settle(w.admit(w.query(active(), 10, 1)), hook.ClassTransformation)
	r := w.record()
	if r.State != circuit.Open || r.Holder != "" || !r.ProbeDue(w.Clock.Now()) || r.Cooldown != before.Cooldown || r.Generation != before.Generation {
		t.Errorf("record = %+v; want the open circuit as before, with a probe due", r)
	}
	if r.AttendAt.After(w.Clock.Now()) {
		t.Errorf("AttendAt = %s; want a time up to now, %s, in case the check is lost", r.AttendAt, w.Clock.Now())
	}
	if diff := cmp.Diff([]string{string(endpoint) + " wave 0 in 1s"}, w.checks()); diff != "" {
		t.Errorf("circuit checks differ (-want +got):\n%s", diff)
	}
	a := w.admit(w.query(active(), 11, 2))
	if d := a.Verdicts[0].Decision; d != admission.Admit {
		t.Fatalf("the next task: %s; want admit, as the probe", d)
	}
	w.settle(a, hook.ClassDelivered)
	if r := w.record(); r.State != circuit.Closed {
		t.Errorf("after the next probe the circuit is %s; want closed", r.State)
	}
}

// The answer to a probe counts for the circuit, even if it cannot be written into the statistics.
func TestGate_AProbeNeedsNoCounts(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.openUntilProbe()
	a := w.admit(w.query(active(), 10, 1))
	refused := errors.New("refused")
	w.Calls.Fail = func(call string, _ hook.EndpointID) error {
		if call == "write stats" {
			return refused
		}
		return nil
	}
	err := w.Gate.Learn(w.Context(), a, []admission.Result{success})
	if got := w.record().State; got != circuit.Closed || !errors.Is(err, refused) {
		t.Errorf("Learn() = %v, and the circuit is %s; want the error, and a closed circuit", err, got)
	}
}

// One write that the store refuses for a moment does not cost a mended endpoint the lease of its probe.
func TestGate_AProbeIsWrittenThroughAnUnavailableStore(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.openUntilProbe()
	a := w.admit(w.query(active(), 10, 1))
	faults := 3
	w.Calls.Fail = func(call string, _ hook.EndpointID) error {
		if call != "write circuit" || faults == 0 {
			return nil
		}
		faults--
		return world.ErrThrottled
	}
	if err := w.Gate.Learn(w.Context(), a, []admission.Result{success}); err != nil || w.record().State != circuit.Closed || faults > 0 {
		t.Errorf("Learn() = %v, and the circuit is %s with %d faults left; want it closed", err, w.record().State, faults)
	}
}

// The lease of a probe stays while a copy of its task may be making a request.
func TestGate_ProbeWithoutARequestKeepsASharedLease(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.openUntilProbe()
	q := w.query(active(), 10, 1)
	first := w.admit(q)
	q.Record = w.record()
	w.Clock.Pass(time.Second)
	w.admit(q) // the copy renews the lease
	w.settle(first, hook.ClassTransformation)
	if r := w.record(); r.State != circuit.HalfOpen || !r.LeaseUntil.Equal(w.Clock.Now().Add(circuit.ProbeLease)) {
		t.Errorf("record = %+v; want the lease of the copy", r)
	}
	if len(w.Checks) != 0 {
		t.Errorf("circuit checks %v; want none", w.checks())
	}
}

// A probe whose attempt was not begun, for want of time, ends its lease. Its task comes again
// as the probe, and is no copy of itself: without a request it gives the new lease back.
func TestGate_ProbeThatComesAgainIsNoCopy(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.openUntilProbe()
	q := w.query(active(), 10, 1)
	w.settle(w.admit(q))
	r := w.record()
	if r.State != circuit.HalfOpen || r.Holder == "" || !r.ProbeDue(w.Clock.Now()) || r.AttendAt.IsZero() {
		t.Errorf("record = %+v; want a holder whose lease is over, and a planned check", r)
	}
	if len(w.Checks) != 0 {
		t.Errorf("circuit checks %v; want none: the message comes again", w.checks())
	}
	w.Clock.Pass(time.Second)
	q.Record = r
	again := w.admit(q)
	if d := again.Verdicts[0].Decision; d != admission.Admit {
		t.Fatalf("the task that came again: %s; want admit, as the probe", d)
	}
	w.settle(again, hook.ClassTransformation)
	if r := w.record(); r.State != circuit.Open || r.Holder != "" || !r.ProbeDue(w.Clock.Now()) {
		t.Errorf("record = %+v; want an open circuit with a probe due", r)
	}
}

// A copy that was not begun leaves the lease to the task that may be making its request.
func TestGate_CopyThatWasNotBegunKeepsTheLease(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.openUntilProbe()
	q := w.query(active(), 10, 1)
	w.admit(q)
	q.Record = w.record()
	w.settle(w.admit(q))
	if r := w.record(); r.State != circuit.HalfOpen || r.ProbeDue(w.Clock.Now()) {
		t.Errorf("record = %+v; want the running lease", r)
	}
}
