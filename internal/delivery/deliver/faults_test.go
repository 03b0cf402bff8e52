package deliver_test

import (
	"context"
	"testing"

	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/world"
)

// unread is a store that cannot read the records of one endpoint.
type unread struct {
	deliver.Store

	endpoint hook.EndpointID
}

func (s unread) Load(ctx context.Context, tasks []hook.Task) (deliver.Snapshot, error) {
	snapshot, err := s.Store.Load(ctx, tasks)
	snapshot.Faults = make(map[hook.Task]error)
	for _, t := range tasks {
		if t.Delivery.Endpoint == s.endpoint {
			snapshot.Faults[t] = &hook.Error{Code: hook.CodeUnavailable, Message: "a throttled partition"}
			delete(snapshot.Endpoints, s.endpoint) // without the fault, the delivery would be cancelled
		}
	}
	return snapshot, err
}

// A task whose records cannot be read comes again, and the other tasks are processed.
func TestProcessBatch_aTaskWithoutItsRecordsReturns(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Answer = world.Always(200)
	healthy, flooded := w.Endpoint(nil), w.Endpoint(nil)
	w.Post(healthy, flooded)
	messages := batchOf(w.Queue.Receive(hook.QueueLive, 10)...)
	d := w.Deliverer()
	d.Store = unread{Store: d.Store, endpoint: flooded.ID}
	failed := d.ProcessBatch(w.Context(), messages)
	delivered := 0
	for _, m := range messages {
		task, err := hook.DecodeTask(m.Body)
		if err != nil {
			t.Fatal(err)
		}
		if task.Delivery.Endpoint == healthy.ID && w.Delivery(task.Delivery).State == hook.StateDelivered {
			delivered++
		}
		if task.Delivery.Endpoint == flooded.ID && (len(failed) != 1 || failed[0] != m.ID) {
			t.Errorf("failed messages: %v; want the one of the endpoint without records", failed)
		}
	}
	if len(messages) != 2 || delivered != 1 {
		t.Errorf("%d of %d messages are delivered; want 1 of 2", delivered, len(messages))
	}
}
