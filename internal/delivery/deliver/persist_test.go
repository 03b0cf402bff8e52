package deliver_test

import (
	"testing"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/world"
)

// TestProcessBatch_PersistsTheOutcomeOfARequest checks that failing writes of an outcome are
// repeated without a second request, and that a decision without a request is left to the queue.
func TestProcessBatch_PersistsTheOutcomeOfARequest(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name     string
		endpoint func(*hook.Endpoint)
		faults   int // failing writes
		failed   int // messages
		posts    int
	}{
		{name: "15 failing writes", faults: 15, posts: 1},
		{name: "16 failing writes: the queue brings the task back", faults: 16, failed: 1, posts: 1},
		{name: "one failing write of a decision without a request", endpoint: func(e *hook.Endpoint) { e.Status = hook.StatusPaused }, faults: 1, failed: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.Post(w.Endpoint(tt.endpoint))
			left := tt.faults
			w.Calls.Fail = func(call string, _ hook.EndpointID) error {
				if call != "write delivery" || left == 0 {
					return nil
				}
				left--
				return world.ErrThrottled
			}
			if _, failed := w.Invoke(hook.QueueLive); failed != tt.failed || len(w.Posts) != tt.posts {
				t.Errorf("%d messages failed after %d requests; want %d and %d", failed, len(w.Posts), tt.failed, tt.posts)
			}
		})
	}
}
