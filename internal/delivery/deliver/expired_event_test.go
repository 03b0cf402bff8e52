package deliver_test

import (
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory/table"
	"surehook.example/surehook/proof/world"
)

// The table removes expired records in any order. If the record of a settled delivery is gone but
// its event is not, a task must not start the delivery again.
func TestProcessBatch_DropsTasksOfExpiredEvents(t *testing.T) {
	t.Parallel()

	w := setup(t)
	id := w.Post(w.Endpoint(nil))[0]
	w.Run()
	w.Store.Table.Expire(start.Add(2*world.Retention), func(k table.Key) bool { return strings.HasPrefix(k.Sort, "delivery#") })
	w.Clock.Until(start.Add(world.Retention))
	w.Enqueue(hook.QueueLive, hook.NewTask("acme", id, 1))
	w.Run()
	if _, err := w.Store.Delivery(t.Context(), id); hook.CodeOf(err) != hook.CodeNotFound || len(w.Posts) != 1 {
		t.Errorf("%d POSTs, and the record: %v; want 1 POST, and no record", len(w.Posts), err)
	}
}

// A delivery ends before its records are removed, even if max_age would allow more time.
func TestProcessBatch_EndsBeforeTheRecordsExpire(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Answer = world.Always(503)
	event := w.Event("order.paid", start.Add(time.Hour+time.Second-world.Retention), w.Endpoint(func(e *hook.Endpoint) { e.MaxAge = 2 * world.Retention }))
	id, _ := event.Ref(event.Targets[0].Endpoint, 1)
	w.Enqueue(hook.QueueLive, hook.NewTask("acme", id, 1))
	w.Run()
	if d := w.Delivery(id); d.State != hook.StateDead || d.Reason != hook.ReasonExpired || len(w.Posts) != 1 {
		t.Errorf("%s (%s) after %d POSTs; want dead (expired) after 1", d.State, d.Reason, len(w.Posts))
	}
}
