package deliver_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory/table"
	"surehook.example/surehook/proof/world"
)

// A task of the queue slot that ends without asking the gate gives its place back at once. A
// task that fails comes again, and keeps its place.
func TestProcessBatch_LeavesTheShare(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		change func(w *bundle, d hook.Delivery)
		want   int // shares in use afterwards
	}{
		{"an expired delivery", func(w *bundle, _ hook.Delivery) { w.Clock.Pass(time.Minute) }, 0},
		{"a dropped task", func(w *bundle, d hook.Delivery) {
			d.State, d.Reason = hook.StateCancelled, hook.ReasonDeleted
			w.Save(d)
		}, 0},
		{"a failed task", func(w *bundle, _ hook.Delivery) {
			w.Clock.Pass(time.Minute)
			w.Calls.Fail = func(call string, _ hook.EndpointID) error {
				if strings.Contains(call, "write delivery") {
					return errors.New("no answer")
				}
				return nil
			}
		}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := &bundle{world.New(t, world.Options{Function: world.Deliver, Unproven: true})}
			endpoint := w.Endpoint(func(e *hook.Endpoint) { e.MaxAge = 30 * time.Second })
			d := hook.QueuedDelivery(w.Event("order.paid", w.Clock.Now(), endpoint), endpoint.Target())
			w.Enqueue(hook.QueueLive, hook.NewTask(world.Tenant, d.Ref(), 1))
			w.Invoke(hook.QueueLive)
			if got := w.shares(); got != 1 {
				t.Fatalf("%d shares after the move to the queue slot; want 1", got)
			}
			tt.change(w, d)
			if received, _ := w.Invoke(hook.QueueSlot); received != 1 || len(w.Posts) != 0 {
				t.Fatalf("%d tasks received, %d requests; want 1 and 0", received, len(w.Posts))
			}
			if got := w.shares(); got != tt.want {
				t.Errorf("%d shares are in use; want %d", got, tt.want)
			}
		})
	}
}

// shares returns the number of the tenant's shares in use.
func (w *bundle) shares() int {
	w.T.Helper()

	shares, err := w.Store.Shares(w.T.Context(), world.Tenant)
	if err != nil {
		w.T.Fatal(err)
	}
	return shares.InFlight(w.Clock.Now())
}

// A task with a claimed in-flight slot may arrive after its event has expired. The slot goes to
// the next delivery, and the other tasks of the batch are processed.
func TestProcessBatch_ClaimWithoutEvent(t *testing.T) {
	t.Parallel()

	w := &bundle{world.New(t, world.Options{Function: world.Deliver})}
	endpoint := w.Endpoint(func(*hook.Endpoint) {})
	gone := hook.QueuedDelivery(w.Event("order.paid", w.Clock.Now(), endpoint), endpoint.Target())
	claimed := hook.NewTask(world.Tenant, gone.Ref(), 1)
	claimed.Slot = true
	w.Store.Table.Expire(start.Add(2*world.Retention), func(k table.Key) bool { return k.Hash == "event#"+string(gone.ID.Event) })
	d := hook.QueuedDelivery(w.Event("order.paid", w.Clock.Now(), endpoint), endpoint.Target())
	w.Enqueue(hook.QueueLive, claimed)
	w.Enqueue(hook.QueueLive, hook.NewTask(world.Tenant, d.Ref(), 1))

	if received, failed := w.Invoke(hook.QueueLive); received != 2 || failed != 0 || len(w.Posts) != 1 {
		t.Errorf("%d tasks received, %d failed, %d requests; want 2, 0 and 1", received, failed, len(w.Posts))
	}
}

// The slot of a task whose event is gone goes to the next parked delivery.
func TestProcessBatch_ClaimWithoutEventIsHandedOver(t *testing.T) {
	t.Parallel()

	w := &bundle{world.New(t, world.Options{Function: world.Deliver})}
	endpoint := w.Endpoint(func(e *hook.Endpoint) { e.MaxInFlight = 1 })
	var tasks []hook.Task
	for _, at := range []time.Time{start, start.Add(time.Second)} {
		d := hook.QueuedDelivery(w.Event("order.paid", at, endpoint), endpoint.Target())
		d.State, d.Reason, d.Parks = hook.StateParked, hook.ReasonInFlight, 1
		if len(tasks) > 0 {
			w.Save(d)
		}
		tasks = append(tasks, d.NextTask())
	}
	if err := w.Store.SaveCircuit(t.Context(), w.Circuit(endpoint).ExpectParked(start)); err != nil {
		t.Fatal(err)
	}
	tasks[0].Slot = true
	w.Enqueue(hook.QueueOverflow, tasks[0])
	w.Store.Table.Expire(start.Add(2*world.Retention), func(k table.Key) bool { return strings.HasSuffix(k.Hash, string(tasks[0].Delivery.Event)) })
	for range 2 {
		w.Invoke(hook.QueueOverflow)
	}
	if len(w.Posts) != 1 || w.Delivery(tasks[1].Delivery).State != hook.StateDelivered {
		t.Errorf("%d requests, and the parked delivery is %s; want it delivered", len(w.Posts), w.Delivery(tasks[1].Delivery).State)
	}
}
