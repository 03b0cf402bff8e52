package breaker_test

import (
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
)

// process gives the task to a new process of function deliver.
func (w *bundle) process(task hook.Task) {
	w.T.Helper()

	body, err := task.Encode()
	if err != nil {
		w.T.Fatal(err)
	}
	if failed := w.Deliverer().ProcessBatch(w.T.Context(), []deliver.Message{{ID: "m", Body: body}}); failed != nil {
		w.T.Fatalf("ProcessBatch() fails %v", failed)
	}
}

// TestProbe_OfASecondTaskWaits gives a second task of the probed delivery to
// another process while the first probe is in flight, as after a slow probe and a
// tick.
func TestProbe_OfASecondTaskWaits(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name  string
		later time.Duration // from the first probe to the second task
		again bool          // the second task is a copy of the first message
		first int           // answer of the first probe
		posts int
		state circuit.State
	}{
		{name: "at once", later: 0, first: 503, posts: 1, state: circuit.Open},
		{name: "just before the end of the lease", later: circuit.ProbeLease - time.Millisecond, first: 503, posts: 1, state: circuit.Open},
		{name: "at the end of the longest invocation of the first", later: time.Minute, first: 503, posts: 1, state: circuit.Open},
		{name: "after the end of the lease: the second task probes", later: circuit.ProbeLease, first: 503, posts: 2, state: circuit.Open},
		{name: "a copy of the message probes, too", later: 0, again: true, first: 503, posts: 2, state: circuit.Open},
		{name: "a late success closes", later: circuit.ProbeLease, first: 200, posts: 2, state: circuit.Closed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			e := w.Endpoint(nil)
			oldest := w.park(e, ages(1)...)[0]
			w.record(e, open(0, 0))
			first, second := hook.NewTask(e.Tenant, oldest, 1), hook.NewTask(e.Tenant, oldest, 1)
			first.Probe, second.Probe = true, true
			if tt.again {
				second = first
			}
			posts := 0
			w.Answer = func(send.Request) hook.Outcome {
				posts++
				if posts > 1 {
					return hook.Outcome{Class: hook.ClassUnavailable, Status: 503}
				}
				w.Clock.Pass(tt.later)
				w.process(second)
				return hook.Outcome{Class: hook.ClassOfStatus(tt.first), Status: tt.first}
			}
			w.process(first)
			if got := w.Circuit(e).State; posts != tt.posts || got != tt.state {
				t.Errorf("%d probes, then the circuit is %s; want %d, %s", posts, got, tt.posts, tt.state)
			}
		})
	}
}
