package deliver_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/work"
	"surehook.example/surehook/proof/world"
)

// heavy has the largest payload for each event. A process does not keep it, while a table in memory
// would.
type heavy struct{ store }

func (s heavy) Load(ctx context.Context, tasks []hook.Task) (deliver.Snapshot, error) {
	found, err := s.store.Load(ctx, tasks)
	for _, e := range found.Events {
		long := strings.Repeat("x", hook.MaxPayload/4)
		e.Payload = []byte(`{"long": "` + long + `", "many": [1` + strings.Repeat(",1", (hook.MaxPayload-len(long))/2-20) + `]}`)
	}
	return found, err
}

// TestDeliverer_memory delivers the largest events to endpoints with the dearest transformations, each
// with an expression of its own that is almost as long as allowed.
func TestDeliverer_memory(t *testing.T) {
	t.Parallel()

	work.HoldMemory(t, func() {
		w := setup(t)
		d := w.Deliverer() // one warm process
		writeTo(d, heavy{w.Store})
		n := 0
		for _, body := range []string{
			`event.data.many.map(a, [a])`, `event.data.many.map(a, [[[[a]]]])`, `event.data.many.map(a, {"a": a})`, `event.data.many.map(a, event.data.?many)`,
			`event.data.many.map(a, string(a))`, `event.data.long.split("")`, `event.data.long.split("").map(a, a + a)`, `event.data.long`,
			`event.data.many.map(a, event.data.many)`, `cel.bind(l, event.data.many + event.data.many, l + l)`,
		} {
			for range world.Batch(hook.QueueLive) {
				n++
				w.Post(w.Endpoint(func(e *hook.Endpoint) {
					e.Transformation = fmt.Sprintf(`{"body": %s} // %d %s`, body, n, strings.Repeat("n", 7000))
				}))
			}
			if failed := d.ProcessBatch(w.Context(), batchOf(w.Queue.Receive(hook.QueueLive, world.Batch(hook.QueueLive))...)); len(failed) > 0 {
				t.Errorf("%d messages failed", len(failed))
			}
			w.Posts = nil
		}
	})
}
