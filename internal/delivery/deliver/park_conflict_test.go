package deliver_test

import (
	"fmt"
	"strings"
	"testing"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/proof/world"
)

// A copy of the task parks the delivery during the attempt, and the message is deleted. The
// outcome of the attempt counts, and no crash loses the delivery.
func TestProcessBatch_OutcomeReplacesThePark(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name     string
		status   int
		released bool // the breaker has released the delivery, and its task is on the queue
		state    hook.State
		attempts int
		records  int // of attempts
		letters  int
		disabled bool
	}{
		{name: "delivered", status: 200, state: hook.StateDelivered, attempts: 1},
		{name: "rejected", status: 404, state: hook.StateDead, attempts: 1, records: 1, letters: 1},
		{name: "gone", status: 410, state: hook.StateDead, attempts: 1, records: 1, letters: 1, disabled: true},
		{name: "failed: the delivery stays parked", status: 503, state: hook.StateParked, attempts: 1, records: 1},
		{name: "delivered after the release", status: 200, released: true, state: hook.StateDelivered, attempts: 1},
		{name: "rejected after the release", status: 404, released: true, state: hook.StateDead, attempts: 1, records: 1, letters: 1},
		{name: "failed after the release: the released task repeats the attempt", status: 503, released: true, state: hook.StateRetrying},
	}
	for i, tt := range append(tests, tests...) {
		copied := i < len(tests) // whether a copy of the task parks the delivery, or another task
		for at := range 15 {     // 0: no death; a flow has at most 7 effects
			name := fmt.Sprintf("%s/parked by a copy: %t", tt.name, copied)
			if at > 0 {
				name = fmt.Sprintf("%s/dies %s effect %d", name, map[int]string{0: "after", 1: "before"}[at%2], (at+1)/2)
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()

				w := setup(t)
				w.Answer = world.Always(tt.status)
				id := w.Post(w.Endpoint(nil))[0]
				message := w.Queue.Receive(hook.QueueLive, 1)[0]
				nonce := message.Task.Nonce
				if !copied {
					nonce = hook.NewNonce()
				}
				process := w.Deliverer()
				writeTo(process, &racingStore{store: w.Store, race: func() { w.parkBy(id, nonce, tt.released) }})
				w.Crash.Arm((at+1)/2, at%2 == 0)
				failed := process.ProcessBatch(w.Context(), batchOf(message))
				died := w.Crash.Restart()
				w.Crash.Disarm()

				d := w.Delivery(id)
				if !died {
					if failed != nil || d.State != tt.state || d.Attempts != tt.attempts || len(w.Attempts(id)) != tt.records || len(w.DeadLetters.Letters()) != tt.letters {
						t.Errorf("failed %v; %s after %d attempts, %d records, %d dead letters; want none, %s after %d, %d, %d", failed,
							d.State, d.Attempts, len(w.Attempts(id)), len(w.DeadLetters.Letters()), tt.state, tt.attempts, tt.records, tt.letters)
					}
					if e, err := w.Store.Endpoint(t.Context(), "acme", id.Endpoint); err != nil || (e.Status == hook.StatusDisabled) != tt.disabled {
						t.Errorf("endpoint is %s, %v; want disabled: %t", e.Status, err, tt.disabled)
					}
					if at == 0 && w.Crash.Effects() > 7 {
						t.Errorf("%d effects; the deaths cover 7", w.Crash.Effects())
					}
				}

				// The message is deleted. The breaker has sent a task for the parked delivery,
				// or will do so.
				w.Answer = world.Always(200)
				if w.Delivery(id).State == hook.StateParked {
					w.Enqueue(hook.QueueRetry, w.Delivery(id).NextTask())
				}
				w.Run()
				w.wantOneRecordOfDisabling(id.Endpoint)
				switch d := w.Delivery(id); {
				case d.State == hook.StateDead && tt.letters > 0:
					if len(w.DeadLetters.Letters()) == 0 {
						t.Error("the dead delivery has no dead letter")
					}
				case d.State == hook.StateParked && tt.disabled: // the answer 410 disabled the endpoint before the write
				case d.State != hook.StateDelivered:
					t.Errorf("at the end the delivery is %s; want delivered", d.State)
				}
			})
		}
	}
}

// parkBy parks the delivery under the nonce, as a copy of the task does, and deletes the
// message. If released, the task of a release is on the queue.
func (w *bundle) parkBy(id hook.DeliveryRef, nonce string, released bool) {
	w.T.Helper()

	event, err := w.Store.Event(w.T.Context(), id.Event)
	if err != nil {
		w.T.Fatal(err)
	}
	d := hook.QueuedDelivery(event, hook.Target{Endpoint: id.Endpoint, Shards: 1})
	d.State, d.Reason, d.DecidedBy, d.Parks = hook.StateParked, hook.ReasonCircuit, nonce, 1
	w.Save(d)
	if !released {
		return
	}
	w.Enqueue(hook.QueueRetry, d.NextTask())
	d.Version++
	d.State, d.Reason, d.NextAttemptAt = hook.StateRetrying, hook.ReasonNone, w.Clock.Now()
	w.Save(d)
}

// If a copy of the task decided without an attempt, the record of the other copy stays.
func TestProcessBatch_SecondParkOfATaskChangesNothing(t *testing.T) {
	t.Parallel()

	w := setup(t)
	id := w.Post(w.Endpoint(func(e *hook.Endpoint) { e.Status = hook.StatusPaused }))[0]
	message := w.Queue.Receive(hook.QueueLive, 1)[0]
	process := w.Deliverer()
	writeTo(process, &racingStore{store: w.Store, race: func() { w.parkBy(id, message.Task.Nonce, true) }})
	if failed := process.ProcessBatch(w.Context(), batchOf(message)); failed != nil {
		t.Errorf("ProcessBatch() = %v; want none failed", failed)
	}
	if d := w.Delivery(id); d.State != hook.StateRetrying || d.Attempts != 0 || d.Version != 2 {
		t.Errorf("%s after %d attempts, version %d; want retrying after 0, version 2", d.State, d.Attempts, d.Version)
	}
	if left := w.Queue.Receive(hook.QueueRetry, 10); len(left) != 1 {
		t.Errorf("%d tasks on the queue; want only the task of the release", len(left))
	}
}

// Only the write that parked the delivery is counted, even if its response was lost.
func TestProcessBatch_CountsThePark(t *testing.T) {
	t.Parallel()

	for _, lost := range []string{"", "write delivery"} {
		w := setup(t)
		w.Post(w.Endpoint(func(e *hook.Endpoint) { e.Status = hook.StatusPaused }))
		w.Calls.Lose(lost)
		w.Run()
		if !strings.Contains(w.Log.String(), `"`+names.MetricParked+`":1`) {
			t.Errorf("lost answer: %q: the log counts no parked delivery:\n%s", lost, w.Log)
		}
	}
}
