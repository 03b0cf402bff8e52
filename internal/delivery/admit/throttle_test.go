package admit_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/stats"
)

// throttle settles one attempt with 429 and the Retry-After.
func (w *bundle) throttle(a admission.Admission, retryAfter time.Duration) {
	w.T.Helper()

	results := []admission.Result{{Attempt: stats.Attempt{Class: hook.ClassThrottled}, RetryAfter: retryAfter}}
	if err := w.Gate.Learn(w.Context(), a, results); err != nil {
		w.T.Fatalf("Learn() = %v", err)
	}
}

// The circuit opens within Retry-After, because attempts that were admitted before the 429 fail
// after it. The next probe still waits for the end of Retry-After.
func TestGate_NoProbeWithinRetryAfter(t *testing.T) {
	t.Parallel()

	const retryAfter = 20 * time.Minute // longer than the cooldown
	w := setup(t)
	late := w.admit(w.query(active(), 0, 5))
	w.throttle(w.admit(w.query(active(), 5, 1)), retryAfter)
	failed := []hook.Class{hook.ClassTimeout, hook.ClassTimeout, hook.ClassTimeout, hook.ClassTimeout, hook.ClassTimeout}
	w.settle(late, failed...)
	r := w.record()
	if r.State != circuit.Open || !r.AttendAt.Equal(start.Add(admission.AttendAfter)) || !r.NextProbe().Equal(start.Add(retryAfter)) {
		t.Fatalf("record = %+v; want open, AttendAt in a minute, and the next probe at the end of Retry-After", r)
	}
	if diff := cmp.Diff([]string{queuedCheck(0, 0)}, w.checks()); diff != "" {
		t.Errorf("circuit checks differ (-want +got):\n%s", diff)
	}
	w.Clock.Until(start.Add(retryAfter - 1))
	if got := decisions(w.admit(w.query(active(), 6, 1))); got != "park" {
		t.Errorf("within Retry-After: %s; want all parked", got)
	}
	if r := w.record(); r.State != circuit.Open || !r.Waiting {
		t.Errorf("record = %+v; want open, and Waiting", r)
	}
	w.Clock.Until(start.Add(retryAfter))
	after := w.query(active(), 6, 2)
	after.Due[0].Probe = true
	if got := decisions(w.admit(after)); got != "admit park" {
		t.Errorf("after Retry-After: %s; want one probe", got)
	}
}

// A receiver whose rate limit answers 429 now and then, before a backend that is down, is found down by the other
// answers; and what answers nothing but 429 is not down.
func TestGate_A429EndsNoRowOfFailures(t *testing.T) {
	t.Parallel()

	const steps = 40
	for failing, want := range map[int]int{0: 0, 1: 9, 3: 6} { // failures before each 429; the step in which the circuit opens
		w := setup(t)
		for step := 1; step <= steps && w.record().State == circuit.Closed; step++ {
			a := w.admit(w.query(active(), step, 1))
			if step%(failing+1) == 0 {
				w.throttle(a, time.Second)
			} else {
				w.settle(a, hook.ClassUnavailable)
			}
			w.Clock.Pass(2 * time.Second)
			want--
		}
		if open := w.record().State == circuit.Open; open != (failing > 0) || open && want != 0 {
			t.Errorf("%d failures before each 429: open %t, %d steps before the expected one", failing, open, want)
		}
	}
}

// The message of the probe comes again within Retry-After: its task is parked, although it holds
// the lease.
func TestGate_NoProbeWithinRetryAfterOfAHalfOpenCircuit(t *testing.T) {
	t.Parallel()

	w := setup(t)
	late := w.admit(w.query(active(), 0, 1))
	w.settle(w.admit(w.query(active(), 1, 5)), hook.ClassDNS, hook.ClassDNS, hook.ClassDNS, hook.ClassDNS, hook.ClassDNS)
	w.Clock.Until(start.Add(hook.DefaultCooldown))
	probe := w.query(active(), 6, 1)
	if got := decisions(w.admit(probe)); got != "admit" {
		t.Fatalf("after the cooldown: %s; want one probe", got)
	}
	w.throttle(late, time.Hour)
	if got := decisions(w.admit(w.query(active(), 6, 1))); got != "park" {
		t.Errorf("the probe's message again, within Retry-After: %s; want parked", got)
	}
	r := w.record()
	if until := w.Clock.Now().Add(time.Hour); r.State != circuit.HalfOpen || !r.NextProbe().Equal(until) {
		t.Errorf("record = %+v; want half-open, the next probe at %s", r, until)
	}
}

// A stale connection says nothing about the endpoint: the circuit counts other failures alone.
func TestGate_countsNoStaleConnection(t *testing.T) {
	t.Parallel()

	w := setup(t)
	stale := admission.Result{Attempt: stats.Attempt{Class: hook.ClassReset}, Stale: true}
	if err := w.Gate.Learn(w.Context(), w.admit(w.query(active(), 0, 5)), []admission.Result{stale, stale, stale, stale, stale}); err != nil {
		t.Fatal(err)
	}
	if r := w.record(); r.State == circuit.Open || r.Failures != 0 {
		t.Errorf("record = %+v; want a closed circuit without failures", r)
	}
	for i := range 5 {
		w.settle(w.admit(w.query(active(), 5+i, 1)), hook.ClassReset)
	}
	if r := w.record(); r.State != circuit.Open {
		t.Errorf("record = %+v; want an open circuit", r)
	}
}

// After a 429 the endpoint gets a pace, which grows until it is refused again, and ends ten minutes after the last 429.
func TestGate_PacesAfterA429(t *testing.T) {
	t.Parallel()

	w := setup(t)
	step := func(name string, pass, retryAfter time.Duration, want float64) {
		t.Helper()

		w.Clock.Pass(pass)
		if retryAfter > 0 {
			w.throttle(w.admit(w.query(active(), 0, 1)), retryAfter)
		}
		r, e := w.record(), active()
		if got := r.RateNow(e, w.Clock.Now()); math.Abs(got-want) > 0.01*want {
			t.Errorf("%s: %.3f a second; want %.3f", name, got, want)
		}
		e.RatePerSecond = want / 2
		if got := r.RateNow(e, w.Clock.Now()); got != want/2 {
			t.Errorf("%s: %.3f a second with a limit of %.3f; want the limit", name, got, want/2)
		}
	}
	step("before", 0, 0, 0)
	step("the first 429", 0, time.Second, 5)
	step("another of the same moment", 0, time.Second, 5)
	step("at the end of the hold", time.Second, 0, 5)
	step("ten seconds later", 10*time.Second, 0, 9.836)
	step("a second 429", 0, 10*time.Second, 7.869)
	step("after that hold", 10*time.Second, 0, 7.869)
	step("a short hold soon after", time.Second, time.Second, 7.563)
	step("a minute after that hold", time.Minute+time.Second, 0, 10.201)
	step("a third 429", 0, time.Second, 8.161)
	step("more than a minute after that hold", 71*time.Second, 0, 21.66)
	step("soon afterwards", 20*time.Second, 0, 0)
	for range 40 {
		w.throttle(w.admit(w.query(active(), 0, 1)), 10*time.Second)
		w.Clock.Pass(10 * time.Second)
	}
	if r := w.record(); r.Pace.Rate != 1 || !r.Pace.Since.Equal(w.Clock.Now()) {
		t.Errorf("after 40 holds the pace is %+v; want the lowest, 1, from the end of the last hold on", r.Pace)
	}
	after := w.record().HeldAtMost(0, w.Clock.Now().Add(-5*time.Second))
	if !after.Pace.Since.Equal(w.Clock.Now().Add(-5 * time.Second)) {
		t.Errorf("a hold that ends earlier leaves a pace from %s on; want from its end", after.Pace.Since)
	}
}

// The first pace is what the endpoint took before.
func TestGate_PacesByWhatWasTaken(t *testing.T) {
	t.Parallel()

	w := setup(t)
	results := make([]hook.Class, 10)
	for i := range results {
		results[i] = hook.ClassDelivered
	}
	w.Clock.Pass(52 * time.Second) // 59 s of the minute
	for range 60 {                 // 600 in the current minute
		w.settle(w.admit(w.query(active(), 0, 10)), results...)
	}
	w.throttle(w.admit(w.query(active(), 0, 1)), time.Second)
	if r := w.record(); math.Abs(r.Pace.Rate-10.2) > 0.1 {
		t.Errorf("the pace is %.2f a second; want 10.2", r.Pace.Rate)
	}
}
