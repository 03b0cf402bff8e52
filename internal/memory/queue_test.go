package memory_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/proof/porttest"
)

func TestQueue(t *testing.T) {
	t.Parallel()

	porttest.Queue(t, func(t *testing.T) porttest.QueueBench {
		t.Helper()

		clock := porttest.FakeClock()
		q := memory.NewTaskQueues(clock.Now)
		return porttest.QueueBench{
			Queue: q,
			Clock: clock,
			Receive: func(_ context.Context, queue hook.Queue) ([]porttest.Message, error) {
				return takeAll(q, queue)
			},
		}
	})
}

func takeAll(q *memory.TaskQueues, queue hook.Queue) ([]porttest.Message, error) {
	var taken []porttest.Message
	for _, m := range q.Receive(queue, 10) {
		taken = append(taken, porttest.Message{Body: m.Body, Group: m.Group})
		q.Delete(m.ID)
	}
	return taken, nil
}

func TestQueue_Receive_HidesAndRedeliversUndeletedMessages(t *testing.T) {
	t.Parallel()

	clock := porttest.FakeClock()
	q := memory.NewTaskQueues(clock.Now)
	task := hook.NewTask("acme", hook.DeliveryRef{DeliveryID: hook.DeliveryID{Event: "evt_1", Endpoint: "ep_1", Generation: 1}, AcceptedAt: 1}, 1)
	q.Send(t.Context(), hook.QueueLive, []hook.Task{task}, 0)

	for count := 1; count <= 2; count++ {
		got := q.Receive(hook.QueueLive, 10)
		if len(got) != 1 || got[0].ReceiveCount != count || got[0].Task != task {
			t.Fatalf("Receive(live) = %v; want the task, received %d times", got, count)
		}
		if hidden := q.Receive(hook.QueueLive, 10); len(hidden) > 0 {
			t.Errorf("Receive(live) again at once = %v; want nothing", hidden)
		}
		next, ok := q.Next()
		if want := clock.Now().Add(q.Visibility); !ok || !next.Equal(want) {
			t.Errorf("Next() = %s, %t; want %s", next, ok, want)
		}
		clock.Pass(t.Context(), next.Sub(clock.Now())-time.Nanosecond)
		if early := q.Receive(hook.QueueLive, 10); len(early) > 0 {
			t.Errorf("Receive(live) before the visibility timeout = %v; want nothing", early)
		}
		clock.Pass(t.Context(), time.Nanosecond)
	}
	q.Delete(q.Receive(hook.QueueLive, 1)[0].ID)
	if next, ok := q.Next(); ok {
		t.Errorf("Next() of an empty queue = %s, true; want false", next)
	}
}

func TestQueue_Receive_RespectsLimitAndOrder(t *testing.T) {
	t.Parallel()

	q := memory.NewTaskQueues(porttest.FakeClock().Now)
	var tasks []hook.Task
	for number := range 3 {
		tasks = append(tasks, hook.NewTask("acme", hook.DeliveryRef{DeliveryID: hook.DeliveryID{Event: "evt_1", Endpoint: "ep_1", Generation: 1}, AcceptedAt: 1}, number+1))
	}
	q.Send(t.Context(), hook.QueueRetry, tasks, 0)

	got := q.Receive(hook.QueueRetry, 2)
	if len(got) != 2 || got[0].Task != tasks[0] || got[1].Task != tasks[1] {
		t.Errorf("Receive(retry, 2) = %v; want the first two of %v", got, tasks)
	}
}

func TestQueue_Receive_FairQueuePrefersQuietGroups(t *testing.T) {
	t.Parallel()

	for _, fair := range []bool{true, false} {
		clock := porttest.FakeClock()
		q := memory.NewTaskQueues(clock.Now)
		q.Fair = fair
		send(t, q, tasksOf("ep_noisy", 1000), 0)
		if got := q.Receive(hook.QueueLive, 29); len(got) != 29 {
			t.Fatalf("Receive(live, 29) = %d messages; want 29", len(got))
		}
		send(t, q, tasksOf("ep_quiet", 3), 0)
		got := q.Receive(hook.QueueLive, 10)
		want := map[hook.EndpointID]int{"ep_noisy": 10}
		if fair { // after the first message, ep_noisy has 30 messages in flight
			want = map[hook.EndpointID]int{"ep_noisy": 7, "ep_quiet": 3}
		}
		groups := make(map[hook.EndpointID]int)
		for _, m := range got {
			groups[m.Task.Delivery.Endpoint]++
		}
		if diff := cmp.Diff(want, groups); diff != "" || got[0].Task.Delivery.Endpoint != "ep_noisy" {
			t.Errorf("Receive(live) of a queue with Fair %t, by group (-want +got):\n%s", fair, diff)
		}
	}
}

func TestQueue_Send_UnknownQueueIsInternal(t *testing.T) {
	t.Parallel()

	q := memory.NewTaskQueues(porttest.FakeClock().Now)
	for _, queue := range []hook.Queue{0, hook.QueueCoalesce + 1} {
		errs := q.Send(t.Context(), queue, tasksOf("ep_1", 2), 0)
		if len(errs) != 2 || hook.CodeOf(errs[0]) != hook.CodeInternal || hook.CodeOf(errs[1]) != hook.CodeInternal {
			t.Errorf("Send(%s, 2 tasks) = %v; want two internal errors", queue, errs)
		}
	}
}
