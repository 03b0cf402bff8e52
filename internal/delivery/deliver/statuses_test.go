package deliver_test

import (
	"testing"
	"time"

	"surehook/internal/delivery/send"
	"surehook/internal/hook"
	"surehook/internal/proof/world"
	"surehook/internal/rule/circuit"
)

// The lists of statuses decide about the retry, with the Retry-After of the answer.
func TestProcessBatch_ListsOfStatusesDecideAboutRetries(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		status int
		state  hook.State
		reason hook.Reason
	}{
		{name: "a listed refusal is retried", status: 404, state: hook.StateRetrying, reason: hook.ReasonNone},
		{name: "another refusal is dead at once", status: 403, state: hook.StateDead, reason: hook.ReasonRejected},
		{name: "a listed failure is dead at once", status: 501, state: hook.StateDead, reason: hook.ReasonRejected},
		{name: "another failure is retried", status: 503, state: hook.StateRetrying, reason: hook.ReasonNone},
		{name: "gone keeps its meaning", status: 410, state: hook.StateDead, reason: hook.ReasonGone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.Answer = func(r send.Request) hook.Outcome {
				o := world.Always(tt.status)(r)
				o.RetryAfter = 3 * time.Minute
				return o
			}
			id := w.Post(w.Endpoint(func(e *hook.Endpoint) { e.RetryOn, e.GiveUpOn = []int{404}, []int{501} }))[0]
			w.Invoke(hook.LaneLive)
			d := w.Delivery(id)
			if d.State != tt.state || d.Reason != tt.reason || d.Last.Class != hook.ClassOfStatus(tt.status) {
				t.Errorf("after %d: %s %s, class %s; want %s %s", tt.status, d.State, d.Reason, d.Last.Class, tt.state, tt.reason)
			}
			if want := start.Add(3 * time.Minute); tt.state == hook.StateRetrying && !d.NextAttemptAt.Equal(want) {
				t.Errorf("next attempt at %v; want %v, the Retry-After", d.NextAttemptAt, want)
			}
		})
	}
}

// A retried refusal shows a working endpoint, and a given up failure a failing one.
func TestProcessBatch_ListsOfStatusesLeaveTheCircuit(t *testing.T) {
	t.Parallel()

	for status, want := range map[int]circuit.State{404: circuit.Closed, 501: circuit.Open} {
		w := setup(t)
		w.Answer = world.Always(status)
		e := w.Endpoint(func(e *hook.Endpoint) { e.RetryOn, e.GiveUpOn = []int{404}, []int{501} })
		for range hook.DefaultCircuitFailures + 1 {
			w.Post(e)
			w.Invoke(hook.LaneLive)
		}
		if got := w.Circuit(e).State; got != want {
			t.Errorf("the circuit after answers %d is %s; want %s", status, got, want)
		}
	}
}

// A retried refusal ends with the policy.
func TestProcessBatch_RetriedRefusalIsExhausted(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Answer = world.Always(409)
	id := w.Post(w.Endpoint(func(e *hook.Endpoint) { e.RetryOn = []int{409} }))[0]
	w.Run()
	if d := w.Delivery(id); d.State != hook.StateDead || d.Reason != hook.ReasonExhausted || d.Attempts != 3 {
		t.Errorf("%s %s after %d attempts; want dead exhausted after 3", d.State, d.Reason, d.Attempts)
	}
}
