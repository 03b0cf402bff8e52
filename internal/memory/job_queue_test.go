package memory_test

import (
	"context"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/proof/porttest"
)

func TestJobQueue(t *testing.T) {
	t.Parallel()

	porttest.JobQueue(t, func(t *testing.T) porttest.JobQueueBench {
		t.Helper()

		clock := porttest.FakeClock()
		jobs := memory.NewJobQueue(clock.Now)
		return porttest.JobQueueBench{Jobs: jobs, Clock: clock, Receive: func(context.Context) ([]porttest.Message, error) {
			var taken []porttest.Message
			for _, m := range jobs.Receive(10) {
				text, err := m.Job.Encode()
				if err != nil {
					return nil, err
				}
				taken = append(taken, porttest.Message{Body: text, Group: string(m.Job.Tenant)})
				jobs.Delete(m.ID)
			}
			return taken, nil
		}}
	})
}

func TestJobQueue_CutsTheDelayAndRedeliversUndeletedMessages(t *testing.T) {
	t.Parallel()

	clock := porttest.FakeClock()
	jobs := memory.NewJobQueue(clock.Now)
	message := replay.Message{Tenant: "acme", Job: "rpl_1"}
	if err := jobs.Continue(t.Context(), message, time.Hour); err != nil {
		t.Fatal(err)
	}
	if at, ok := jobs.Next(); !ok || at.Sub(clock.Now()) != 15*time.Minute {
		t.Fatalf("Next() after Continue(1 h) = %s, %t; want 15 minutes from now", at, ok)
	}
	clock.Pass(t.Context(), 15*time.Minute)
	for count := 1; count <= 2; count++ {
		got := jobs.Receive(10)
		if len(got) != 1 || got[0].Job != message || got[0].ReceiveCount != count {
			t.Fatalf("Receive() = %v; want the message, received %d times", got, count)
		}
		if hidden := jobs.Receive(10); len(hidden) > 0 {
			t.Errorf("Receive() again at once = %v; want nothing", hidden)
		}
		clock.Pass(t.Context(), jobs.Visibility)
	}
	jobs.Delete("1")
	if at, ok := jobs.Next(); ok {
		t.Errorf("Next() of an empty queue = %s, true; want false", at)
	}
}
