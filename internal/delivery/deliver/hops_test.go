package deliver_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

// delayingGate delays every task until the given time.
type delayingGate struct{ until time.Time }

func (g delayingGate) Ask(_ context.Context, q admission.Query) (*admit.Permits, error) {
	a := admission.Admission{Verdicts: make([]admission.Verdict, len(q.Due))}
	for i := range a.Verdicts {
		a.Verdicts[i] = admission.Verdict{Decision: admission.Move, Queue: hook.QueueRetry, Until: g.until}
	}
	return &admit.Permits{Query: q, Answer: a}, nil
}

func (delayingGate) Return(context.Context, *hook.Endpoint, hook.Queue, admit.Ended) error {
	return nil
}

func (delayingGate) Done(context.Context, *admit.Permits, []admit.Ended) error { return nil }

// TestProcessBatch_CountsTasksSentOnTooOften checks that each sending adds a hop, and that a
// task past the bound is counted in the metrics but still sent.
func TestProcessBatch_CountsTasksSentOnTooOften(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name     string
		hops     int
		circling bool
	}{
		{name: "a new task", hops: 0},
		{name: "one hop below the bound", hops: hook.MaxHops - 2},
		{name: "at the bound", hops: hook.MaxHops - 1, circling: true},
		{name: "beyond the bound", hops: hook.MaxHops + 5, circling: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			id := w.Post(w.Endpoint(nil))[0]
			w.Gate = delayingGate{until: w.Clock.Now().Add(3 * time.Second)}
			task := hook.NewTask("acme", id, 1)
			task.Hops = tt.hops
			w.Enqueue(hook.QueueRetry, task)
			if _, failed := w.Invoke(hook.QueueRetry); failed != 0 {
				t.Fatalf("%d messages failed; want none", failed)
			}
			w.Clock.Pass(3 * time.Second)
			sent := w.Queue.Receive(hook.QueueRetry, 10)
			if len(sent) != 1 {
				t.Fatalf("%d tasks on the retry queue; want one", len(sent))
			}
			if next, err := hook.DecodeTask(sent[0].Body); err != nil || next.Hops != tt.hops+1 || next.Nonce != task.Nonce {
				t.Errorf("sent on %+v, %v; want the same task with %d hops", next, err, tt.hops+1)
			}
			if counted := strings.Contains(w.Log.String(), `"messages_circling":1`); counted != tt.circling {
				t.Errorf("counted: %t; want %t: %s", counted, tt.circling, w.Log)
			}
		})
	}
}
