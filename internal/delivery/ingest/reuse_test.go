package ingest_test

import (
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/world"
)

// TestAccept_ReusedIdempotencyKey reuses the key of an event that has expired and is deleted,
// while the record of its delivery still exists. A repeated post of the second event sends the
// missing task.
func TestAccept_ReusedIdempotencyKey(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.endpoint("acme", "*")
	expired := hook.Event{ID: hook.KeyedEventID("acme", "k"), Tenant: "acme", AcceptedAt: start.Add(-world.Retention)}
	old := hook.QueuedDelivery(expired, e.Target())
	old.State = hook.StateDelivered
	w.Save(old)

	first, err := w.acceptor.Accept(t.Context(), "acme", paid("k"))
	if err != nil || first.Duplicate || len(w.tasks()) != 1 { // a crash loses the task
		t.Fatalf("Accept() = %+v, %v; want a new event with a task", first, err)
	}
	again, err := w.acceptor.Accept(t.Context(), "acme", paid("k"))
	if err != nil || !again.Duplicate {
		t.Fatalf("Accept() = %+v, %v; want a duplicate", again, err)
	}
	w.Clock.Until(start.Add(time.Minute))
	tasks := w.tasks()
	if len(tasks) != 1 || tasks[0].Delivery.AcceptedAt != start.UnixMilli() {
		t.Errorf("tasks = %+v; want one of the second event", tasks)
	}
}
