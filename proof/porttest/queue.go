package porttest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
)

// Message is a received message.
type Message struct {
	Body  string
	Group string // MessageGroupId; may be empty
}

// QueueBench is a queue under test.
type QueueBench struct {
	Queue settle.TaskQueue
	// Receive receives and deletes visible messages of the queue, perhaps not all of them. None is
	// not an error.
	Receive func(ctx context.Context, queue hook.Queue) ([]Message, error)
	Clock   Clock
}

// Queue tests an implementation of the port settle.TaskQueue. Each call of newBench
// returns empty queues of its own.
func Queue(t *testing.T, newBench func(t *testing.T) QueueBench) {
	t.Helper()

	t.Run("each task arrives once, on its queue and with its message group", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		tasks := newTasks(t, 25)
		if errs := b.Queue.Send(t.Context(), hook.QueueLive, tasks, 0); errs != nil {
			t.Fatalf("Send(25 tasks) = %v; want nil", errs)
		}
		var want []Message
		for _, task := range tasks {
			want = append(want, Message{Body: body(t, task), Group: task.Group()})
		}
		if stray, err := b.Receive(t.Context(), hook.QueueRetry); err != nil || len(stray) > 0 {
			t.Errorf("Receive(retry) after a send to live = %v, %v; want nothing", stray, err)
		}
		got := b.take(t, hook.QueueLive, len(want))
		if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
			t.Errorf("Receive(live) (-want +got):\n%s", diff)
		}
		if more, err := b.Receive(t.Context(), hook.QueueLive); err != nil || len(more) > 0 {
			t.Errorf("Receive(live) of an empty queue = %v, %v; want nothing", more, err)
		}
	})

	t.Run("a delay is rounded up to whole seconds, and the task is not visible before", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		tasks := newTasks(t, 1)
		start := b.Clock.Now()
		if errs := b.Queue.Send(t.Context(), hook.QueueRetry, tasks, 1100*time.Millisecond); errs != nil {
			t.Fatalf("Send(1 task, 1.1 s) = %v; want nil", errs)
		}
		got := b.take(t, hook.QueueRetry, 1)
		if got[0].Body != body(t, tasks[0]) {
			t.Errorf("Receive(retry) = %q; want %q", got[0].Body, body(t, tasks[0]))
		}
		if waited := b.Clock.Now().Sub(start); waited < 2*time.Second {
			t.Errorf("task received %s after it was sent with a delay of 1.1 s; want at least 2 s", waited)
		}
	})

	t.Run("a delay above 15 minutes or below 0 is internal and sends nothing", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		for _, delay := range []time.Duration{15*time.Minute + 1, -1} {
			errs := b.Queue.Send(t.Context(), hook.QueueRetry, newTasks(t, 2), delay)
			if len(errs) != 2 || hook.CodeOf(errs[0]) != hook.CodeInternal || hook.CodeOf(errs[1]) != hook.CodeInternal {
				t.Errorf("Send(2 tasks, %s) = %v; want two internal errors", delay, errs)
			}
		}
		if got, err := b.Receive(t.Context(), hook.QueueRetry); err != nil || len(got) > 0 {
			t.Errorf("Receive(retry) = %v, %v; want nothing", got, err)
		}
	})

	t.Run("each queue has its own tasks", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		queues := hook.Queues()
		want := make(map[hook.Queue]string)
		for _, queue := range queues {
			task := newTasks(t, 1)
			task[0].ReplayRequest = hook.ReplayRequest{By: hook.NewKeyID(), JobIndex: int(queue), Force: true}
			if errs := b.Queue.Send(t.Context(), queue, task, 0); errs != nil {
				t.Fatalf("Send(%s, 1 task) = %v; want nil", queue, errs)
			}
			want[queue] = body(t, task[0])
		}
		for _, queue := range queues {
			if got := b.take(t, queue, 1); len(got) != 1 || got[0].Body != want[queue] {
				t.Errorf("Receive(%s) = %v; want %q alone", queue, got, want[queue])
			}
		}
	})

	t.Run("sending no tasks succeeds", func(t *testing.T) {
		t.Parallel()

		if errs := newBench(t).Queue.Send(t.Context(), hook.QueueLive, nil, 0); errs != nil {
			t.Errorf("Send(no tasks) = %v; want nil", errs)
		}
	})
}

func (b QueueBench) take(t *testing.T, queue hook.Queue, n int) []Message {
	t.Helper()

	return await(t, b.Clock, n, func(ctx context.Context) ([]Message, error) { return b.Receive(ctx, queue) })
}

// newTasks returns first tasks of n deliveries to three endpoints.
func newTasks(t *testing.T, n int) []hook.Task {
	t.Helper()

	endpoints := []hook.EndpointID{hook.NewEndpointID(), hook.NewEndpointID(), hook.NewEndpointID()}
	tasks := make([]hook.Task, n)
	for i := range tasks {
		event := hook.NewEventID()
		tasks[i] = hook.NewTask("acme", placeOf(event, endpoints[i%len(endpoints)], 1), 1)
	}
	return tasks
}

func body(t *testing.T, task hook.Task) string {
	t.Helper()

	text, err := task.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func sorted(messages []Message) []Message {
	slices.SortFunc(messages, func(a, b Message) int { return strings.Compare(a.Body, b.Body) })
	return messages
}
