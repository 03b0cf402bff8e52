package deliver_test

import (
	"fmt"
	"testing"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/world"
)

// The breaker records a queued delivery before or during its first attempt. The attempt counts,
// and is made once.
func TestProcessBatch_RecordedQueuedDelivery(t *testing.T) {
	t.Parallel()

	tests := []struct {
		status int
		paused bool
		want   string
		posts  int
	}{
		{status: 200, want: "1 delivered", posts: 1},
		{status: 404, want: "1 dead rejected", posts: 1},
		{status: 503, want: "1 retrying", posts: 1},
		{paused: true, want: "1 parked paused"},
	}
	for _, tt := range tests {
		for _, during := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, recorded during the attempt: %t", tt.want, during), func(t *testing.T) {
				t.Parallel()

				w := setup(t)
				w.Answer = world.Always(tt.status)
				ids := w.Post(w.Endpoint(func(e *hook.Endpoint) {
					if tt.paused {
						e.Status = hook.StatusPaused
					}
				}))
				record := func() {
					if err := w.Breaker().Record(t.Context(), ids); err != nil {
						t.Error(err)
					}
				}
				process := w.Deliverer()
				if during {
					writeTo(process, &racingStore{store: w.Store, race: record})
				} else {
					record()
				}
				if failed := process.ProcessBatch(w.Context(), batchOf(w.Queue.Receive(hook.QueueLive, 1)[0])); failed != nil {
					t.Errorf("ProcessBatch() = %v; want none failed", failed)
				}
				if got, d := w.States(ids), w.Delivery(ids[0]); got != tt.want || len(w.Posts) != tt.posts || d.Version != 2 || d.Attempts != tt.posts {
					t.Errorf("delivery is %s in version %d after %d requests; want %s, 2, %d", got, d.Version, len(w.Posts), tt.want, tt.posts)
				}
			})
		}
	}
}
