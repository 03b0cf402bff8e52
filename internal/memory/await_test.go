package memory_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
)

// tasksOf returns first tasks of n deliveries to the endpoint.
func tasksOf(endpoint hook.EndpointID, n int) []hook.Task {
	tasks := make([]hook.Task, n)
	for i := range tasks {
		tasks[i] = hook.NewTask("acme", hook.DeliveryRef{DeliveryID: hook.DeliveryID{Event: "evt_1", Endpoint: endpoint, Generation: i + 1}, AcceptedAt: 1}, 1)
	}
	return tasks
}

// send puts the tasks on the live queue.
func send(t *testing.T, q *memory.TaskQueues, tasks []hook.Task, delay time.Duration) {
	t.Helper()

	if errs := q.Send(t.Context(), hook.QueueLive, tasks, delay); errs != nil {
		t.Fatalf("Send(live, %d tasks) = %v; want nil", len(tasks), errs)
	}
}

func TestQueue_Await_ReturnsWhenAMessageIsVisible(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name  string
		sent  time.Duration // time of Send, from the start
		delay time.Duration
		want  time.Duration // time of receipt, from the start
	}{
		{name: "a message sent before", sent: 0, delay: 0, want: 0},
		{name: "a delayed message sent before", sent: 0, delay: 7 * time.Second, want: 7 * time.Second},
		{name: "a message sent later", sent: 3 * time.Second, delay: 0, want: 3 * time.Second},
		{name: "a delayed message sent later", sent: 3 * time.Second, delay: 7 * time.Second, want: 10 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				q := memory.NewTaskQueues(time.Now)
				send(t, q, tasksOf("ep_0", 1), time.Minute) // visible after the end of the test
				go func() {
					time.Sleep(tt.sent)
					send(t, q, tasksOf("ep_1", 1), tt.delay)
				}()
				if tt.sent == 0 {
					synctest.Wait()
				}
				got := q.Await(t.Context(), hook.QueueLive, 10)
				if after := time.Since(start); len(got) != 1 || got[0].Task.Delivery.Endpoint != "ep_1" || after != tt.want {
					t.Errorf("Await(live) = %v after %s; want the message after %s", got, after, tt.want)
				}
			})
		})
	}
}

func TestQueue_Await_ReturnsNothingWhenTheContextEnds(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		q := memory.NewTaskQueues(time.Now)
		start := time.Now()
		if got := q.Await(ctx, hook.QueueLive, 10); len(got) > 0 || time.Since(start) != time.Second {
			t.Errorf("Await(live) = %v after %s; want nothing after 1 s", got, time.Since(start))
		}
	})
}

// Of two waiting calls, the first waits for a delayed message. When the context of
// the first call ends, the second call waits for the message.
func TestQueue_Await_AnEndedCallWakesAnother(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		q := memory.NewTaskQueues(time.Now)
		first, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		second, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		var waiters sync.WaitGroup
		waiters.Go(func() { q.Await(first, hook.QueueLive, 1) })
		synctest.Wait()
		waiters.Go(func() {
			got := q.Await(second, hook.QueueLive, 1)
			if after := time.Since(start); len(got) != 1 || after != 3*time.Second {
				t.Errorf("Await(live) = %v after %s; want the message after 3 s", got, after)
			}
		})
		synctest.Wait()
		send(t, q, tasksOf("ep_1", 1), 3*time.Second)
		waiters.Wait()
	})
}

// A second waiting call receives the messages beyond the limit of the first.
func TestQueue_Await_WakesACallPerBatch(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		q := memory.NewTaskQueues(time.Now)
		var waiters sync.WaitGroup
		var received [2]int
		for i := range received {
			waiters.Go(func() { received[i] = len(q.Await(t.Context(), hook.QueueLive, 10)) })
		}
		synctest.Wait()
		send(t, q, tasksOf("ep_1", 15), time.Second)
		waiters.Wait()
		if slices.Sort(received[:]); received != [2]int{5, 10} {
			t.Errorf("two calls of Await(live) returned %v messages; want 5 and 10", received)
		}
	})
}

func TestQueue_Await_ReturnsEachMessageOnce(t *testing.T) {
	t.Parallel()

	const senders, each, workers = 4, 500, 8
	q := memory.NewTaskQueues(time.Now)
	q.Fair = true
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var mu sync.Mutex
	seen := make(map[hook.DeliveryRef]int)
	var running sync.WaitGroup
	for i := range senders {
		running.Go(func() {
			for _, task := range tasksOf(hook.EndpointID("ep_"+string(rune('a'+i))), each) {
				q.Send(ctx, hook.QueueLive, []hook.Task{task}, 0)
			}
		})
	}
	for range workers {
		running.Go(func() {
			for {
				batch := q.Await(ctx, hook.QueueLive, 10)
				if len(batch) == 0 {
					return
				}
				for _, m := range batch {
					q.Delete(m.ID)
					mu.Lock()
					seen[m.Task.Delivery]++
					if len(seen) == senders*each {
						stop()
					}
					mu.Unlock()
				}
			}
		})
	}
	running.Wait()
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s was received %d times; want once", id, n)
		}
	}
	if at, ok := q.Next(); ok || len(seen) != senders*each {
		t.Errorf("%d deliveries were received and Next() = %s, %t; want %d and an empty queue", len(seen), at, ok, senders*each)
	}
}
