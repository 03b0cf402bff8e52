package deliver_test

import (
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/proof/world"
)

// The lists of statuses decide whether a failure is retried, and the Retry-After of the answer
// applies.
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
			w.Invoke(hook.QueueLive)
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

// For the circuit, a refusal that is retried still proves that the endpoint works, and a failure
// that is given up still counts as a failure.
func TestProcessBatch_ListsOfStatusesLeaveTheCircuit(t *testing.T) {
	t.Parallel()

	for status, want := range map[int]circuit.State{404: circuit.Closed, 501: circuit.Open} {
		w := setup(t)
		w.Answer = world.Always(status)
		e := w.Endpoint(func(e *hook.Endpoint) { e.RetryOn, e.GiveUpOn = []int{404}, []int{501} })
		for range hook.DefaultCircuitFailures + 1 {
			w.Post(e)
			w.Invoke(hook.QueueLive)
		}
		if got := w.Circuit(e).State; got != want {
			t.Errorf("the circuit after answers %d is %s; want %s", status, got, want)
		}
	}
}

// Retries of a refusal end with the retry policy.
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

// A status of give_up_on ends a delivery. After a request with several events, each event is
// first sent alone, and then rejected.
func TestCoalesce_GiveUpOnEndsEachEventAlone(t *testing.T) {
	t.Parallel()

	w := world.New(t, world.Options{Function: world.Deliver, Delays: []time.Duration{10 * time.Second, 10 * time.Second, 10 * time.Second, 10 * time.Second}})
	e := w.Endpoint(windowed(func(e *hook.Endpoint) { e.GiveUpOn = []int{501} }))
	w.Answer = world.Always(501)
	refs := accept(w, e, numbered(5)...)
	w.Run()
	for _, ref := range refs {
		if d := w.Delivery(ref); d.Reason != hook.ReasonRejected || d.Attempts > 2 {
			t.Errorf("%s: %s %s after %d attempts; want dead rejected after 2 (together, then alone)", ref.DeliveryID, d.State, d.Reason, d.Attempts)
		}
	}
	if len(w.Posts) != 6 {
		t.Errorf("%d requests; want 1 together and 5 alone", len(w.Posts))
	}
}

// A status of retry_on rejects no event, so the events of a request stay together.
func TestCoalesce_ARetriedRefusalKeepsTheWindowTogether(t *testing.T) {
	t.Parallel()

	w := world.New(t, world.Options{Function: world.Deliver, Delays: []time.Duration{10 * time.Second, 10 * time.Second}})
	e := w.Endpoint(windowed(func(e *hook.Endpoint) { e.RetryOn = []int{404} }))
	n := 0
	w.Answer = func(r send.Request) hook.Outcome {
		n++
		if n == 1 {
			return world.Always(404)(r)
		}
		return world.Always(200)(r)
	}
	accept(w, e, numbered(50)...)
	w.Run()
	if len(w.Posts) > 3 {
		t.Errorf("%d requests for 50 events after one retried 404; want 2 or 3", len(w.Posts))
	}
}
