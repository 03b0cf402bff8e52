package isolation_test

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"surehook.example/surehook/internal/delivery/breaker"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/memory/table"
)

// The durations of the model.
const (
	storeCall  = 5 * time.Millisecond  // mean
	message    = 15 * time.Millisecond // mean, from the call of Send until the message is visible
	invocation = 5 * time.Millisecond  // before the function's first line
)

// calls counts the requests of the functions, and takes their time.
type calls struct {
	instant                 bool // no time
	reads, writes, messages atomic.Int64
}

// about blocks for half to one and a half times the mean.
func (c *calls) about(mean time.Duration) {
	if !c.instant {
		time.Sleep(mean/2 + rand.N(mean))
	}
}

// working is the key of the functions' contexts. Requests with other contexts are the
// test's own: they take no time, and do not count.
type working struct{}

// around lets each request of a function to the table take time, and counts it.
func (c *calls) around(ctx context.Context, r *table.Call, do func() error) error {
	if ctx.Value(working{}) == nil {
		return do()
	}
	c.about(storeCall)
	if r.Write {
		c.writes.Add(1)
	} else {
		c.reads.Add(1)
	}
	return do()
}

// queue is the task queues: each message takes time and counts.
type queue struct {
	*memory.TaskQueues

	calls *calls
}

var _ breaker.Queue = queue{}

// Send sends the tasks in batches of ten, as SendMessageBatch.
func (q queue) Send(ctx context.Context, queue hook.Queue, tasks []hook.Task, delay time.Duration) []error {
	for range (len(tasks) + 9) / 10 {
		q.calls.about(message)
	}
	q.calls.messages.Add(int64(len(tasks)))
	return q.TaskQueues.Send(ctx, queue, tasks, delay)
}

// circuits is the queue of circuit checks.
type circuits struct {
	*memory.CircuitQueue

	calls *calls
}

// Enqueue sends a circuit check.
func (c circuits) Enqueue(ctx context.Context, check hook.CircuitCheck, delay time.Duration) error {
	c.calls.about(message)
	c.calls.messages.Add(1)
	return c.CircuitQueue.Enqueue(ctx, check, delay)
}
