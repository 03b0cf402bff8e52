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
	// Receive receives and deletes visible messages of the lane, perhaps not all of them. None is
	// not an error.
	Receive func(ctx context.Context, lane hook.Lane) ([]Message, error)
	Clock   Clock
}

// Queue tests an implementation of the port settle.TaskQueue. Each call of newBench
// returns a queue with empty lanes of its own.
func Queue(t *testing.T, newBench func(t *testing.T) QueueBench) {
	t.Helper()

	t.Run("each task arrives once, on its lane and with its message group", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		tasks := newTasks(t, 25)
		if errs := b.Queue.Send(t.Context(), hook.LaneLive, tasks, 0); errs != nil {
			t.Fatalf("Send(25 tasks) = %v; want nil", errs)
		}
		var want []Message
		for _, task := range tasks {
			want = append(want, Message{Body: body(t, task), Group: task.Group()})
		}
		if stray, err := b.Receive(t.Context(), hook.LaneRetry); err != nil || len(stray) > 0 {
			t.Errorf("Receive(retry) after a send to live = %v, %v; want nothing", stray, err)
		}
		got := b.take(t, hook.LaneLive, len(want))
		if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
			t.Errorf("Receive(live) (-want +got):\n%s", diff)
		}
		if more, err := b.Receive(t.Context(), hook.LaneLive); err != nil || len(more) > 0 {
			t.Errorf("Receive(live) of an empty lane = %v, %v; want nothing", more, err)
		}
	})

	t.Run("a delay is rounded up to whole seconds, and the task is not visible before", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		tasks := newTasks(t, 1)
		start := b.Clock.Now()
		if errs := b.Queue.Send(t.Context(), hook.LaneRetry, tasks, 1100*time.Millisecond); errs != nil {
			t.Fatalf("Send(1 task, 1.1 s) = %v; want nil", errs)
		}
		got := b.take(t, hook.LaneRetry, 1)
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
			errs := b.Queue.Send(t.Context(), hook.LaneRetry, newTasks(t, 2), delay)
			if len(errs) != 2 || hook.CodeOf(errs[0]) != hook.CodeInternal || hook.CodeOf(errs[1]) != hook.CodeInternal {
				t.Errorf("Send(2 tasks, %s) = %v; want two internal errors", delay, errs)
			}
		}
		if got, err := b.Receive(t.Context(), hook.LaneRetry); err != nil || len(got) > 0 {
			t.Errorf("Receive(retry) = %v, %v; want nothing", got, err)
		}
	})

	t.Run("each lane has its own tasks", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		lanes := hook.Lanes()
		want := make(map[hook.Lane]string)
		for _, lane := range lanes {
			task := newTasks(t, 1)
			task[0].ReplayRequest = hook.ReplayRequest{By: hook.NewKeyID(), JobIndex: int(lane), Force: true}
			if errs := b.Queue.Send(t.Context(), lane, task, 0); errs != nil {
				t.Fatalf("Send(%s, 1 task) = %v; want nil", lane, errs)
			}
			want[lane] = body(t, task[0])
		}
		for _, lane := range lanes {
			if got := b.take(t, lane, 1); len(got) != 1 || got[0].Body != want[lane] {
				t.Errorf("Receive(%s) = %v; want %q alone", lane, got, want[lane])
			}
		}
	})

	t.Run("sending no tasks succeeds", func(t *testing.T) {
		t.Parallel()

		if errs := newBench(t).Queue.Send(t.Context(), hook.LaneLive, nil, 0); errs != nil {
			t.Errorf("Send(no tasks) = %v; want nil", errs)
		}
	})
}

func (b QueueBench) take(t *testing.T, lane hook.Lane, n int) []Message {
	t.Helper()

	return await(t, b.Clock, n, func(ctx context.Context) ([]Message, error) { return b.Receive(ctx, lane) })
}

// newTasks returns first tasks of n deliveries to three endpoints.
func newTasks(t *testing.T, n int) []hook.Task {
	t.Helper()

	endpoints := []hook.EndpointID{hook.NewEndpointID(), hook.NewEndpointID(), hook.NewEndpointID()}
	tasks := make([]hook.Task, n)
	for i := range tasks {
		event, err := hook.NewEventID()
		if err != nil {
			t.Fatal(err)
		}
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
