package memory_test

import (
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
)

// Purge removes visible and delayed messages of the queue, and neither received ones nor those
// of another queue.
func TestQueue_Purge(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	q := memory.NewTaskQueues(func() time.Time { return now })
	tasks := tasksOf("ep_1", 4)
	q.Send(t.Context(), hook.QueueRetry, tasks[3:], 0)
	send(t, q, tasks[:1], 0)
	received := q.Receive(hook.QueueLive, 1)
	send(t, q, tasks[1:2], 0)
	send(t, q, tasks[2:3], time.Minute)
	if purged := q.Purge(hook.QueueLive); len(purged) != 2 {
		t.Errorf("Purge() = %d messages; want 2", len(purged))
	}
	now = now.Add(time.Hour)
	if left := q.Receive(hook.QueueLive, 10); len(left) != 1 || left[0].ID != received[0].ID {
		t.Errorf("%d messages are left; want the received one", len(left))
	}
	if left := q.Receive(hook.QueueRetry, 10); len(left) != 1 {
		t.Errorf("%d messages of the other queue are left; want 1", len(left))
	}
}
