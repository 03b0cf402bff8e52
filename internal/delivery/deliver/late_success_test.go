package deliver_test

import (
	"fmt"
	"slices"
	"testing"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/world"
)

// Two tasks make one attempt, because an event that is posted twice has two tasks. The failure
// of the other task is recorded first. A 2xx still replaces it, even if the process dies, unless
// the delivery was cancelled, discarded or replayed.
func TestProcessBatch_LateSuccess(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		status int
		edit   func(*hook.Delivery) // of the record with the failure of the other task
		state  hook.State
	}{
		{name: "retrying", status: 200, edit: func(*hook.Delivery) {}, state: hook.StateDelivered},
		{name: "a later attempt failed, too", status: 200, edit: func(d *hook.Delivery) { d.Attempts = 2 }, state: hook.StateDelivered},
		{name: "parked", status: 200, edit: func(d *hook.Delivery) { d.State, d.Parks = hook.StateParked, 1 }, state: hook.StateDelivered},
		{name: "dead", status: 200, edit: func(d *hook.Delivery) { d.State, d.Reason = hook.StateDead, hook.ReasonExhausted }, state: hook.StateDelivered},
		{name: "dead without the attempt", status: 200, edit: func(d *hook.Delivery) {
			d.State, d.Reason, d.Attempts = hook.StateDead, hook.ReasonExpired, 0
		}, state: hook.StateDelivered},
		{name: "replayed", status: 200, edit: func(d *hook.Delivery) {
			d.State, d.Replayed.Generation = hook.StateDead, 2
		}, state: hook.StateDead},
		{name: "cancelled", status: 200, edit: func(d *hook.Delivery) { d.State = hook.StateCancelled }, state: hook.StateCancelled},
		{name: "discarded", status: 200, edit: func(d *hook.Delivery) { d.State = hook.StateDiscarded }, state: hook.StateDiscarded},
		{name: "a failure changes nothing", status: 503, edit: func(*hook.Delivery) {}, state: hook.StateRetrying},
		{name: "a rejection changes nothing", status: 404, edit: func(*hook.Delivery) {}, state: hook.StateRetrying},
	}
	for _, tt := range tests {
		for at := range 9 { // 0: no death; a flow has at most 4 effects
			name := tt.name
			if at > 0 {
				name = fmt.Sprintf("%s/dies %s effect %d", tt.name, map[int]string{0: "after", 1: "before"}[at%2], (at+1)/2)
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()

				w := setup(t)
				w.Answer = world.Always(tt.status)
				id := w.Post(w.Endpoint(nil))[0]
				message := w.Queue.Receive(hook.QueueLive, 1)[0]
				process := w.Deliverer()
				writeTo(process, &racingStore{store: w.Store, race: func() { w.failBy(id, tt.edit) }})
				w.Crash.Arm((at+1)/2, at%2 == 0)
				failed := process.ProcessBatch(w.Context(), batchOf(message))
				died := w.Crash.Restart()
				w.Crash.Disarm()

				attempts := max(1, w.Delivery(id).Attempts)
				if died { // the message comes again, or the other task is still on the queue
					w.Answer = world.Always(200)
					w.Enqueue(hook.QueueRetry, w.Delivery(id).NextTask())
					w.Run()
				}
				d := w.Delivery(id)
				if !died && failed != nil {
					t.Errorf("failed %v; want none", failed)
				}
				want := []hook.State{tt.state}
				if died { // no record has the 2xx: the death stays, and the next attempt succeeds
					want = append(want, hook.StateDelivered, hook.StateDead)
				}
				if !slices.Contains(want, d.State) {
					t.Errorf("%s; want one of %v", d.State, want)
				}
				if !died && d.State == hook.StateDelivered && (d.Attempts != attempts || d.Last.Status != 200 || !d.NextAttemptAt.IsZero()) {
					t.Errorf("delivered after %d attempts, last %d, next at %v; want %d, 200, none", d.Attempts, d.Last.Status, d.NextAttemptAt, attempts)
				}
				if at == 0 && w.Crash.Effects() > 4 {
					t.Errorf("%d effects; the deaths cover 4", w.Crash.Effects())
				}
			})
		}
	}
}

// A 2xx that replaces a death is recorded even if the work that follows fails: its task comes again and finds its
// nonce in the record.
func TestProcessBatch_LateSuccessOverADeathIsRecorded(t *testing.T) {
	t.Parallel()

	w := setup(t)
	id := w.Post(w.Endpoint(nil))[0]
	message := w.Queue.Receive(hook.QueueLive, 1)[0]
	faults := 0
	w.Calls.Fail = func(call string, _ hook.EndpointID) error {
		if call != "write outcomes" {
			return nil
		}
		faults++
		return world.ErrThrottled
	}
	process := w.Deliverer()
	writeTo(process, &racingStore{store: w.Store, race: func() {
		w.failBy(id, func(d *hook.Delivery) { d.State, d.Reason, d.Job = hook.StateDead, hook.ReasonExhausted, "job_1" })
	}})
	if failed := process.ProcessBatch(w.Context(), batchOf(message)); len(failed) != 1 || faults == 0 {
		t.Fatalf("failed %v after %d faults; want the message back", failed, faults)
	}
	if d := w.Delivery(id); d.State != hook.StateDelivered {
		t.Errorf("%s; want delivered", d.State)
	}
	w.Calls.Fail = nil
	if failed := process.ProcessBatch(w.Context(), batchOf(message)); failed != nil {
		t.Errorf("failed %v; want none", failed)
	}
	if got, err := w.Store.JobOutcomes(t.Context(), "job_1"); err != nil || got.Delivered != 1 || got.Dead != 0 {
		t.Errorf("the job counts %+v (%v); want one delivered", got, err)
	}
}

// failBy records the failed attempt of another task.
func (w *bundle) failBy(id hook.DeliveryRef, edit func(*hook.Delivery)) {
	w.T.Helper()

	event, err := w.Store.Event(w.T.Context(), id.Event)
	if err != nil {
		w.T.Fatal(err)
	}
	d := hook.QueuedDelivery(event, hook.Target{Endpoint: id.Endpoint, Shards: 1})
	d.State, d.DecidedBy, d.Attempts, d.NextAttemptAt = hook.StateRetrying, hook.NewNonce(), 1, w.Clock.Now()
	d.Last = hook.Outcome{Class: hook.ClassUnavailable, Status: 500}
	edit(&d)
	w.Save(d)
}

// The queue gives one message to two functions, and the other one records a failure first. The
// record has the nonce of the task, but a 2xx still replaces the failure, even if the store
// refuses the first write: package sim, level brutal, seed 2026490395.
func TestProcessBatch_LateSuccessOfACopy(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		state  hook.State // of the record with the failure
		faults int        // writes over the failure that fail
	}{
		{name: "retrying", state: hook.StateRetrying},
		{name: "dead", state: hook.StateDead},
		{name: "retrying, a write fails", state: hook.StateRetrying, faults: 1},
		{name: "dead, 14 writes fail", state: hook.StateDead, faults: 14},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			id := w.Post(w.Endpoint(nil))[0]
			message := w.Queue.Receive(hook.QueueLive, 1)[0]
			writes := 0 // the first conflicts with the failure
			w.Calls.Fail = func(call string, _ hook.EndpointID) error {
				if call != "write delivery" {
					return nil
				}
				if writes++; writes == 1 || writes > 1+tt.faults {
					return nil
				}
				return world.ErrThrottled
			}
			process := w.Deliverer()
			writeTo(process, &racingStore{store: w.Store, race: func() {
				w.failBy(id, func(d *hook.Delivery) { d.State, d.DecidedBy = tt.state, message.Task.Nonce })
			}})
			if failed := process.ProcessBatch(w.Context(), batchOf(message)); failed != nil {
				t.Errorf("failed %v; want none", failed)
			}
			if d := w.Delivery(id); d.State != hook.StateDelivered || d.Attempts != 1 || d.Last.Status != 200 {
				t.Errorf("%s after %d attempts, last %d; want delivered after 1, 200", d.State, d.Attempts, d.Last.Status)
			}
		})
	}
}
