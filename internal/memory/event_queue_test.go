package memory_test

import (
	"context"
	"testing"

	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/proof/porttest"
)

func TestEventQueue(t *testing.T) {
	t.Parallel()

	porttest.EventQueue(t, func(t *testing.T) porttest.EventQueueBench {
		t.Helper()

		clock := porttest.FakeClock()
		queue := memory.NewEventQueue(clock.Now)
		return porttest.EventQueueBench{Queue: queue, Clock: clock, Take: func(context.Context) ([]porttest.Message, error) {
			var taken []porttest.Message
			for _, m := range queue.Events(10) {
				taken = append(taken, porttest.Message{Body: m.Body, Group: m.Group})
				queue.Delete(m.ID)
			}
			return taken, nil
		}}
	})
}
