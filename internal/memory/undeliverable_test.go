package memory_test

import (
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/proof/porttest"
)

func TestQueue_MaxReceives_MakesAMessageUndeliverableUntilTheRedrive(t *testing.T) {
	t.Parallel()

	clock := porttest.FakeClock()
	q := memory.NewTaskQueues(clock.Now)
	q.MaxReceives = 2
	send(t, q, tasksOf("ep_1", 1), 0)
	receive := func() int {
		n := len(q.Receive(hook.QueueLive, 10))
		clock.Pass(t.Context(), q.Visibility)
		return n
	}
	for range 2 {
		if n := receive(); n != 1 {
			t.Fatalf("Receive() = %d messages; want 1", n)
		}
	}
	if n := receive(); n != 0 || q.Undeliverable() != 1 {
		t.Fatalf("the third Receive() = %d messages, Undeliverable() = %d; want 0 and 1", n, q.Undeliverable())
	}
	if n := q.Redrive(); n != 1 || q.Undeliverable() != 0 {
		t.Errorf("Redrive() = %d, Undeliverable() = %d; want 1 and 0", n, q.Undeliverable())
	}
	if got := q.Receive(hook.QueueLive, 10); len(got) != 1 || got[0].ReceiveCount != 1 {
		t.Errorf("Receive() after Redrive() = %v; want the message, received once", got)
	}
}

func TestQueue_Reject_MakesAMessageUndeliverable(t *testing.T) {
	t.Parallel()

	q := memory.NewTaskQueues(porttest.FakeClock().Now)
	send(t, q, tasksOf("ep_1", 1), 0)
	q.Reject(q.Receive(hook.QueueLive, 1)[0].ID)
	if at, ok := q.Next(); ok || q.Undeliverable() != 1 {
		t.Errorf("Next() = %s, %t, Undeliverable() = %d; want no message and 1", at, ok, q.Undeliverable())
	}
}

func TestQueue_ChangeVisibility_ShowsTheMessageEarlier(t *testing.T) {
	t.Parallel()

	clock := porttest.FakeClock()
	q := memory.NewTaskQueues(clock.Now)
	send(t, q, tasksOf("ep_1", 1), 0)
	q.ChangeVisibility(q.Receive(hook.QueueLive, 1)[0].ID, 2*time.Second)
	if at, ok := q.Next(); !ok || at.Sub(clock.Now()) != 2*time.Second {
		t.Errorf("Next() = %s, %t; want 2 s from now", at, ok)
	}
	clock.Pass(t.Context(), 2*time.Second)
	if got := q.Receive(hook.QueueLive, 1); len(got) != 1 || got[0].ReceiveCount != 2 {
		t.Errorf("Receive() = %v; want the message, received twice", got)
	}
}
