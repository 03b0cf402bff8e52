package deliver_test

import (
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/world"
)

// The payload is erased during an attempt, before the outcome is written. The record must not
// keep the response body, and no further attempt follows.
func TestProcessBatch_ErasedDuringTheAttempt(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		status int
		edit   func(*hook.Delivery) // of the record before the erasure; nil: no record
		state  hook.State
	}{
		{name: "queued, delivered", status: 200, state: hook.StateCancelled},
		{name: "queued, failed", status: 503, state: hook.StateCancelled},
		{name: "queued, rejected", status: 404, state: hook.StateCancelled},
		{name: "failed by another task", status: 200, edit: func(*hook.Delivery) {}, state: hook.StateCancelled},
		{name: "dead by another task, delivered", status: 200, edit: func(d *hook.Delivery) {
			d.State, d.Reason = hook.StateDead, hook.ReasonExhausted
		}, state: hook.StateDelivered},
		{name: "dead by another task, failed", status: 503, edit: func(d *hook.Delivery) {
			d.State, d.Reason = hook.StateDead, hook.ReasonExhausted
		}, state: hook.StateDead},
		{name: "dead without the attempt, delivered", status: 200, edit: func(d *hook.Delivery) {
			d.State, d.Reason, d.Attempts = hook.StateDead, hook.ReasonExpired, 0
		}, state: hook.StateDelivered},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.Answer = func(send.Request) hook.Outcome {
				return hook.Outcome{Class: hook.ClassOfStatus(tt.status), Status: tt.status, Body: []byte("a name")}
			}
			id := w.Post(w.Endpoint(nil))[0]
			message := w.Queue.Receive(hook.QueueLive, 1)[0]
			process := w.Deliverer()
			writeTo(process, &racingStore{store: w.Store, race: func() {
				if tt.edit != nil {
					w.failBy(id, tt.edit)
				}
				if _, err := w.Replayer().Erase(t.Context(), "acme", id.Event, "key_1"); err != nil {
					t.Errorf("Erase() = %v", err)
				}
			}})
			if failed := process.ProcessBatch(w.Context(), batchOf(message)); failed != nil {
				t.Errorf("ProcessBatch() = %v; want none failed", failed)
			}
			w.Run()
			d := w.Delivery(id)
			if d.State != tt.state || !d.Erased || d.Last.Body != nil || len(w.Posts) != 1 {
				t.Errorf("delivery = %+v after %d POSTs; want %s without a body after 1", d, len(w.Posts), tt.state)
			}
			attempts, err := w.Store.Attempts(t.Context(), []hook.Delivery{d})
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range attempts {
				if a.Outcome.Body != nil {
					t.Errorf("attempt %d has the body %s; want none", a.Number, a.Outcome.Body)
				}
			}
		})
	}
}

// Tasks of an event without a payload cancel their deliveries, because the process that erased
// the payload may have died before it could.
func TestProcessBatch_EndsDeliveriesWithoutAPayload(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Answer = world.InTurn(503)
	ids := w.Post(w.Endpoint(nil))
	w.InvokeAll() // the first attempt fails
	event, err := w.Store.Event(t.Context(), ids[0].Event)
	if err != nil {
		t.Fatal(err)
	}
	event.ErasedAt = w.Clock.Now()
	if err := w.Store.EraseEvent(t.Context(), event); err != nil {
		t.Fatal(err)
	}
	w.Run()
	d := w.Delivery(ids[0])
	if d.State != hook.StateCancelled || d.Reason != hook.ReasonErased || !d.Erased || len(w.Posts) != 1 {
		t.Errorf("%s %s after %d POSTs; want cancelled, erased after 1", d.State, d.Reason, len(w.Posts))
	}
	w.RunFor(time.Hour)
	if again := w.Delivery(ids[0]); again.Version != d.Version {
		t.Errorf("version %d; want %d: nothing is left to do", again.Version, d.Version)
	}
}
