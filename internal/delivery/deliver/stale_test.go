package deliver_test

import (
	"testing"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/proof/world"
)

// parkedMessage returns a delivery to a paused endpoint, and the message of its first task. One
// function has parked the delivery and deleted the message, and the endpoint is active again.
func (w *bundle) parkedMessage() (hook.DeliveryRef, memory.Message) {
	w.T.Helper()

	endpoint := w.Endpoint(func(e *hook.Endpoint) { e.Status = hook.StatusPaused })
	id := w.Post(endpoint)[0]
	message := w.Queue.Receive(hook.QueueLive, 1)[0]
	w.Deliverer().ProcessBatch(w.Context(), batchOf(message))
	w.Queue.Delete(message.ID)
	endpoint.Status = hook.StatusActive
	if err := w.Store.UpdateEndpoint(w.T.Context(), endpoint); err != nil {
		w.T.Fatal(err)
	}
	return id, message
}

// parkAgain parks the delivery by another task.
func (w *bundle) parkAgain(id hook.DeliveryRef) {
	w.T.Helper()

	d := w.Delivery(id)
	d.DecidedBy = hook.NewNonce()
	d.Parks++
	w.Save(d)
}

// The queue gives a message to two functions. The first one parks the delivery and deletes the
// message. The second one must not make the attempt: if it died between (a) and (b), the delivery
// would have no task.
func TestProcessBatch_DropsTheCopyOfAParkedTask(t *testing.T) {
	t.Parallel()

	for _, since := range []string{"nothing", "another park", "a release"} {
		t.Run("since the park: "+since, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.Answer = world.InTurn(503, 200)
			id, message := w.parkedMessage()
			switch since {
			case "another park": // by the task of a probe, so the record holds the nonce of that task
				w.parkAgain(id)
			case "a release": // the release keeps the nonce of the task that parked the delivery
				d := w.Delivery(id)
				d.State, d.Reason, d.NextAttemptAt = hook.StateRetrying, hook.ReasonNone, w.Clock.Now()
				w.Save(d)
			}
			w.Crash.Arm(1, true)
			if failed := w.Deliverer().ProcessBatch(w.Context(), batchOf(message)); failed != nil {
				t.Errorf("ProcessBatch() = %v; want the copy dropped", failed)
			}
			w.Crash.Restart()
			w.Crash.Disarm()
			if len(w.Posts) != 0 {
				t.Errorf("%d POSTs by the copy; want 0", len(w.Posts))
			}

			w.Enqueue(hook.QueueRetry, w.Delivery(id).NextTask()) // of the release
			w.Run()
			if d := w.Delivery(id); d.State != hook.StateDelivered || d.Attempts != 2 {
				t.Errorf("%s after %d attempts; want delivered after 2", d.State, d.Attempts)
			}
		})
	}
}
