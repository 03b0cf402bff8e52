package deliver_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/proof/world"
)

// A stale connection loses the first request, and every repetition of it after a crash. The next
// attempt goes out at once, on a new connection; the circuit, which one failure opens, stays
// closed, and the schedule begins with the attempt after it.
func TestProcessBatch_RepeatsAtOnceAfterAStaleConnection(t *testing.T) {
	t.Parallel()

	run := func(t *testing.T, at int, after bool) (effects int) {
		t.Helper()

		w := setup(t)
		e := w.Endpoint(func(e *hook.Endpoint) { e.Circuit.Failures = 1 })
		var fresh []bool
		w.Answer = func(r send.Request) hook.Outcome {
			fresh = append(fresh, r.Fresh)
			if r.Attempt == 1 {
				return hook.Outcome{Class: hook.ClassReset, URL: r.Endpoint.URL, Stale: true}
			}
			return hook.Outcome{Class: hook.ClassDelivered, Status: 200, URL: r.Endpoint.URL}
		}
		id := w.Post(e)[0]
		w.Crash.Arm(at, after)
		w.Run()
		d := w.Delivery(id)
		if d.State != hook.StateDelivered || d.Attempts != 2 || d.Stale != 1 {
			t.Errorf("%s after %d attempts, stale %d; want delivered after 2, stale 1", d.State, d.Attempts, d.Stale)
		}
		if c := w.Circuit(e); c.State == circuit.Open {
			t.Errorf("the circuit is open: %+v", c)
		}
		if last := len(fresh) - 1; fresh[0] || !fresh[last] {
			t.Errorf("fresh connections: %v; want one for the second attempt", fresh)
		}
		if took := d.UpdatedAt.Sub(start); at == 0 && took != 0 {
			t.Errorf("delivered after %s; want at once", took)
		}
		return w.Crash.Effects()
	}
	effects := run(t, 0, false)
	for at := 1; at <= effects; at += world.Stride() {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("effect %d, after it: %t", at, after), func(t *testing.T) {
				t.Parallel()

				run(t, at, after)
			})
		}
	}
}

// A second stale connection of the same delivery counts as any failure.
func TestProcessBatch_CountsASecondStaleConnection(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(func(e *hook.Endpoint) { e.Circuit.Failures = 1 })
	w.Answer = func(r send.Request) hook.Outcome {
		return hook.Outcome{Class: hook.ClassReset, URL: r.Endpoint.URL, Stale: true}
	}
	id := w.Post(e)[0]
	w.InvokeAll()
	w.InvokeAll()
	if d, c := w.Delivery(id), w.Circuit(e); d.Attempts != 2 || d.Stale != 1 || c.State != circuit.Open {
		t.Errorf("%d attempts, stale %d, circuit %v; want 2, 1 and an open circuit", d.Attempts, d.Stale, c.State)
	}
}

// A stale connection costs a delivery none of the most attempts that a policy can have: it dies after all
// of them.
func TestProcessBatch_DiesAfterAStaleConnectionAndAllAttempts(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(func(e *hook.Endpoint) {
		e.Circuit.Failures, e.Circuit.Minimum = 1000, 1000
		e.Retry = hook.RetryPolicy{Schedule: slices.Repeat([]time.Duration{time.Second}, hook.MaxScheduleDelays)}
	})
	w.Answer = func(r send.Request) hook.Outcome {
		if r.Attempt == 1 {
			return hook.Outcome{Class: hook.ClassReset, URL: r.Endpoint.URL, Stale: true}
		}
		return hook.Outcome{Class: hook.ClassUnavailable, Status: 503, URL: r.Endpoint.URL}
	}
	id := w.Post(e)[0]
	w.Run()
	if d := w.Delivery(id); d.State != hook.StateDead || d.Reason != hook.ReasonExhausted || d.Attempts != hook.MaxRequests {
		t.Errorf("%s (%s) after %d attempts; want dead (exhausted) after %d", d.State, d.Reason, d.Attempts, hook.MaxRequests)
	}
}
