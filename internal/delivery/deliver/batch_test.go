package deliver_test

import (
	"testing"

	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/proof/world"
)

// batchOf returns the messages as one batch.
func batchOf(messages ...memory.Message) []deliver.Message {
	var batch []deliver.Message
	for _, m := range messages {
		batch = append(batch, deliver.Message{ID: m.ID, Body: m.Body})
	}
	return batch
}

// Task A recorded the attempt, and the process died before (b). Task B is for the same attempt
// and comes before A in the same batch. A must resume, and B is stale. Found by package sim, seed
// 6495.
func TestProcessBatch_ResumesBesideAnotherTaskOfTheAttempt(t *testing.T) {
	t.Parallel()

	for _, order := range []string{"A before B", "B before A"} {
		t.Run(order, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.Answer = world.InTurn(503, 200)
			id := w.Post(w.Endpoint(nil))[0]
			a := w.Queue.Receive(hook.QueueLive, 1)[0]
			w.Crash.Arm(1, true)
			w.Deliverer().ProcessBatch(w.Context(), batchOf(a))
			if !w.Crash.Restart() || w.Delivery(id).State != hook.StateRetrying {
				t.Fatal("the process did not die between (a) and (b)")
			}

			w.Enqueue(hook.QueueLive, hook.NewTask("acme", id, 1))
			b := w.Queue.Receive(hook.QueueLive, 1)[0]
			batch := batchOf(a, b)
			if order == "B before A" {
				batch = batchOf(b, a)
			}
			if failed := w.Deliverer().ProcessBatch(w.Context(), batch); failed != nil {
				t.Errorf("ProcessBatch() = %v; want none failed", failed)
			}
			w.Queue.Delete(a.ID)
			w.Queue.Delete(b.ID)
			w.Run()
			if d := w.Delivery(id); d.State != hook.StateDelivered || d.Attempts != 2 {
				t.Errorf("%s after %d attempts; want delivered after 2", d.State, d.Attempts)
			}
		})
	}
}

// If several tasks of one attempt are due, one makes the attempt. The others fail, because one
// of them may have recorded the attempt in another process.
func TestProcessBatch_OneTaskMakesTheAttempt(t *testing.T) {
	t.Parallel()

	w := setup(t)
	id := w.Post(w.Endpoint(nil))[0]
	w.Enqueue(hook.QueueLive, hook.NewTask("acme", id, 1), hook.NewTask("acme", id, 1))
	all := w.Queue.Receive(hook.QueueLive, 3)
	failed := w.Deliverer().ProcessBatch(w.Context(), batchOf(all...))
	if len(failed) != 2 || failed[0] != all[1].ID || failed[1] != all[2].ID || len(w.Posts) != 1 {
		t.Errorf("ProcessBatch() = %v after %d POSTs; want the second and the third message, 1", failed, len(w.Posts))
	}
	if failed := w.Deliverer().ProcessBatch(w.Context(), batchOf(all[1:]...)); failed != nil || len(w.Posts) != 1 {
		t.Errorf("ProcessBatch() again = %v after %d POSTs; want none failed, 1", failed, len(w.Posts))
	}
	if d := w.Delivery(id); d.State != hook.StateDelivered || d.DecidedBy != all[0].Task.Nonce {
		t.Errorf("%s by task %s; want delivered by the first task", d.State, d.DecidedBy)
	}
}

// If several tasks expire a delivery, one death is counted.
func TestProcessBatch_OneTaskExpiresTheDelivery(t *testing.T) {
	t.Parallel()

	w := setup(t)
	id := w.Post(w.Endpoint(nil))[0]
	w.Enqueue(hook.QueueLive, hook.NewTask("acme", id, 1))
	w.Clock.Pass(hook.DefaultMaxAge + 1)
	all := w.Queue.Receive(hook.QueueLive, 2)
	if failed := w.Deliverer().ProcessBatch(w.Context(), batchOf(all...)); len(failed) != 1 || failed[0] != all[1].ID {
		t.Errorf("ProcessBatch() = %v; want the second message", failed)
	}
	if n := len(w.DeadLetters.Letters()); n != 1 || w.Delivery(id).State != hook.StateDead {
		t.Errorf("%s with %d dead letters; want dead with 1", w.Delivery(id).State, n)
	}
}

// Two messages with the same task are processed once.
func TestProcessBatch_EqualTasksAreOne(t *testing.T) {
	t.Parallel()

	w := setup(t)
	id := w.Post(w.Endpoint(nil))[0]
	first := w.Queue.Receive(hook.QueueLive, 1)[0]
	w.Enqueue(hook.QueueLive, first.Task)
	second := w.Queue.Receive(hook.QueueLive, 1)[0]
	if failed := w.Deliverer().ProcessBatch(w.Context(), batchOf(first, second)); failed != nil || len(w.Posts) != 1 {
		t.Errorf("ProcessBatch() = %v after %d POSTs; want none failed, 1", failed, len(w.Posts))
	}
	if d := w.Delivery(id); d.State != hook.StateDelivered {
		t.Errorf("%s; want delivered", d.State)
	}
}
