package memory_test

import (
	"strconv"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
)

const waiting = 100_000

// BenchmarkQueue sends, receives and deletes a message on a queue of 100,000 other
// messages: half are visible, half are delayed.
func BenchmarkQueue(b *testing.B) {
	for _, fair := range []bool{false, true} {
		b.Run("fair="+strconv.FormatBool(fair), func(b *testing.B) {
			now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			q := memory.NewTaskQueues(func() time.Time { return now })
			q.Fair = fair
			for i := range waiting / 100 {
				tasks := tasksOf(hook.EndpointID("ep_"+strconv.Itoa(i%100)), 100)
				q.Send(b.Context(), hook.QueueLive, tasks, time.Duration(i%2*(i%900))*time.Second)
			}
			task := tasksOf("ep_0", 1)
			for b.Loop() {
				q.Send(b.Context(), hook.QueueLive, task, 0)
				q.Delete(q.Receive(hook.QueueLive, 1)[0].ID)
			}
		})
	}
}
