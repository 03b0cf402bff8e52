package memory

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"surehook.example/surehook/internal/delivery/breaker"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
)

var (
	_ settle.TaskQueue = (*TaskQueues)(nil)
	_ breaker.Queue    = (*TaskQueues)(nil)
)

// TaskQueues are the queues of tasks. As with SQS, a received message is hidden, and visible again
// unless deleted. Queue is safe for concurrent use.
type TaskQueues struct {
	// Visibility is the visibility timeout of received messages; by default a
	// minute.
	Visibility time.Duration
	// MaxReceives is the maxReceiveCount of the redrive policy: a message is
	// undeliverable at the next receive. 0, the default, is no maximum.
	MaxReceives int
	// Fair makes them fair queues of SQS: messages of quiet groups come first.
	// A group is noisy with at least 30 messages, and more than a tenth of all
	// messages, in flight, or with more than a tenth of the recent processing time.
	// Of noisy groups the one with the fewest messages in flight comes first. Without
	// Fair, the order of messages is the time of visibility, then the order of Send.
	Fair bool

	now     func() time.Time
	numbers *atomic.Int64              // message numbers of all queues and of the dead letters
	queues  [6]*standardQueue[content] // from the first hook.Queue
}

// content is a task and its encoded form.
type content struct {
	task hook.Task
	body string
}

// Message is a received message.
type Message struct {
	ID           string
	Group        string    // empty for a message of a schedule
	Body         string    // encoded task, or encoded dead letter after Redrive
	Task         hook.Task // decoded Body
	ReceiveCount int       // this receipt included
}

// NewTaskQueues returns empty queues with the clock now.
func NewTaskQueues(now func() time.Time) *TaskQueues {
	numbers := new(atomic.Int64)
	q := &TaskQueues{Visibility: defaultVisibility, now: now, numbers: numbers}
	for i := range q.queues {
		q.queues[i] = newStandardQueue[content](now, numbers)
	}
	return q
}

// Send rejects an unknown queue and a delay outside 0 to 15 minutes with
// CodeInternal.
func (q *TaskQueues) Send(_ context.Context, queue hook.Queue, tasks []hook.Task, delay time.Duration) []error {
	errs := make([]error, len(tasks))
	if err := q.validate(queue, delay); err != nil {
		for i := range errs {
			errs[i] = err
		}
		return errs
	}
	visibleAt := q.now().Add(wholeSeconds(delay))
	failed := false
	for i, task := range tasks {
		errs[i] = q.put(queue, task.Group(), task, visibleAt)
		failed = failed || errs[i] != nil
	}
	if !failed {
		return nil
	}
	return errs
}

// Visible returns the exact number.
func (q *TaskQueues) Visible(_ context.Context, queue hook.Queue) (int, error) {
	return q.of(queue).depth().Visible, nil
}

// Receive returns at most limit visible messages of the queue and hides the
// messages for Visibility.
func (q *TaskQueues) Receive(queue hook.Queue, limit int) []Message {
	return messages(q.of(queue).receive(limit, q.Visibility, q.MaxReceives, q.Fair))
}

// Await is Receive, but waits for a message on the queue. Await returns no messages
// when ctx ends first. Await requires a real clock.
func (q *TaskQueues) Await(ctx context.Context, queue hook.Queue, limit int) []Message {
	return messages(q.of(queue).await(ctx, limit, q.Visibility, q.MaxReceives, q.Fair))
}

// Delete removes the message. Delete ignores an unknown id.
func (q *TaskQueues) Delete(id string) {
	for _, l := range q.queues {
		if _, ok := l.delete(id); ok {
			return
		}
	}
}

// Purge removes the messages of the queue that nobody has received yet, also delayed ones,
// and returns them in no particular order. PurgeQueue of SQS removes all messages.
func (q *TaskQueues) Purge(queue hook.Queue) []Message { return messages(q.of(queue).purge()) }

// ChangeVisibility makes a received message visible again after d, rounded up to whole
// seconds, as ChangeMessageVisibility of SQS. ChangeVisibility ignores an unknown id.
func (q *TaskQueues) ChangeVisibility(id string, d time.Duration) {
	for _, l := range q.queues {
		l.changeVisibility(id, d)
	}
}

// Next returns the earliest time of visibility of all messages, for simulations to
// advance the clock; ok is false without messages.
func (q *TaskQueues) Next() (at time.Time, ok bool) {
	for _, l := range q.queues {
		if first, some := l.next(); some && (!ok || first.Before(at)) {
			at, ok = first, true
		}
	}
	return at, ok
}

// NextOf is Next for the messages of a queue.
func (q *TaskQueues) NextOf(queue hook.Queue) (at time.Time, ok bool) { return q.of(queue).next() }

// of returns the messages of a valid queue.
func (q *TaskQueues) of(queue hook.Queue) *standardQueue[content] {
	return q.queues[queue-hook.QueueLive]
}

// validate checks the arguments of Send.
func (q *TaskQueues) validate(queue hook.Queue, delay time.Duration) error {
	switch {
	case queue < hook.QueueLive || queue > hook.QueueCoalesce:
		return &hook.Error{Code: hook.CodeInternal, Message: "unknown queue " + queue.String()}
	case delay < 0 || delay > hook.MaxQueueDelay:
		return &hook.Error{Code: hook.CodeInternal, Message: fmt.Sprintf("delay %s is out of range 0 to %s", delay, hook.MaxQueueDelay)}
	}
	return nil
}

func (q *TaskQueues) put(queue hook.Queue, group string, task hook.Task, visibleAt time.Time) error {
	body, err := task.Encode()
	if err != nil {
		return fmt.Errorf("send to queue %s: %w", queue, err)
	}
	q.of(queue).put(group, content{task: task, body: body}, visibleAt)
	return nil
}

func messages(entries []entry[content]) []Message {
	all := make([]Message, len(entries))
	for i, e := range entries {
		all[i] = Message{ID: e.id, Group: e.group.id, Body: e.value.body, Task: e.value.task, ReceiveCount: e.received}
	}
	return all
}

// wholeSeconds rounds a delay up to whole seconds, the unit of SQS.
func wholeSeconds(delay time.Duration) time.Duration {
	return (delay + time.Second - 1).Truncate(time.Second)
}
