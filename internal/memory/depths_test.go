package memory_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/names"
)

func TestQueues_Depths_CountsMessagesByVisibility(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	clock := func() time.Time { return now }
	queues := memory.NewTaskQueues(clock)
	q := memory.Queues{Events: memory.NewEventQueue(clock), Tasks: queues, DeadLetters: memory.NewDeadLetters(queues), Circuits: memory.NewCircuitQueue(clock), Jobs: memory.NewJobQueue(clock)}
	send(t, q.Tasks, tasksOf("ep_1", 5), 0)
	send(t, q.Tasks, tasksOf("ep_2", 1), time.Second)
	send(t, q.Tasks, tasksOf("ep_3", 1), time.Minute)
	now = now.Add(time.Second) // the message of ep_2 becomes visible
	if received := q.Tasks.Receive(hook.QueueLive, 2); len(received) != 2 {
		t.Fatalf("Receive(live, 2) = %v; want 2 messages", received)
	}
	if err := q.Circuits.Enqueue(t.Context(), hook.CircuitCheck{Endpoint: "ep_1"}, time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := q.Jobs.Continue(t.Context(), replay.Message{}, 0); err != nil {
		t.Fatal(err)
	}
	if err := q.DeadLetters.Send(t.Context(), hook.DeadLetter{}); err != nil {
		t.Fatal(err)
	}

	got, err := q.Depths(t.Context())
	want := names.Queues[status.Depth]{
		Live: status.Depth{Visible: 4, InFlight: 2, Delayed: 1}, ReplayJobs: status.Depth{Visible: 1}, Circuits: status.Depth{Delayed: 1}, DeadLetters: status.Depth{Visible: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("Depths() = %v, %v; want (-) and got (+):\n%s", got, err, diff)
	}
}
