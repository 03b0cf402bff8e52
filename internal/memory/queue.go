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
	_ settle.TaskQueue = (*Queue)(nil)
	_ breaker.Queue    = (*Queue)(nil)
)

// Queue is the lanes. As with SQS, a received message is hidden, and visible again
// unless deleted. Queue is safe for concurrent use.
type Queue struct {
	// Visibility is the visibility timeout of received messages; by default a
	// minute.
	Visibility time.Duration
	// MaxReceives is the maxReceiveCount of the redrive policy: a message is
	// undeliverable at the next receive. 0, the default, is no maximum.
	MaxReceives int
	// Fair makes the lanes fair queues of SQS: messages of quiet groups come first.
	// A group is noisy with at least 30 messages, and more than a tenth of all
	// messages, in flight, or with more than a tenth of the recent processing time.
	// Of noisy groups the one with the fewest messages in flight comes first. Without
	// Fair, the order of messages is the time of visibility, then the order of Send.
	Fair bool

	now     func() time.Time
	numbers *atomic.Int64              // message numbers of all lanes and of the dead letters
	lanes   [6]*standardQueue[content] // by lane, from the first
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

// NewQueue returns an empty queue with the clock now.
func NewQueue(now func() time.Time) *Queue {
	numbers := new(atomic.Int64)
	q := &Queue{Visibility: defaultVisibility, now: now, numbers: numbers}
	for i := range q.lanes {
		q.lanes[i] = newStandardQueue[content](now, numbers)
	}
	return q
}

// Send rejects an unknown lane and a delay outside 0 to 15 minutes with
// CodeInternal.
func (q *Queue) Send(_ context.Context, lane hook.Lane, tasks []hook.Task, delay time.Duration) []error {
	errs := make([]error, len(tasks))
	if err := q.validate(lane, delay); err != nil {
		for i := range errs {
			errs[i] = err
		}
		return errs
	}
	visibleAt := q.now().Add(wholeSeconds(delay))
	failed := false
	for i, task := range tasks {
		errs[i] = q.put(lane, task.Group(), task, visibleAt)
		failed = failed || errs[i] != nil
	}
	if !failed {
		return nil
	}
	return errs
}

// Visible returns the exact number.
func (q *Queue) Visible(_ context.Context, lane hook.Lane) (int, error) {
	return q.lane(lane).depth().Visible, nil
}

// Receive returns at most limit visible messages of the lane and hides the
// messages for Visibility.
func (q *Queue) Receive(lane hook.Lane, limit int) []Message {
	return messages(q.lane(lane).receive(limit, q.Visibility, q.MaxReceives, q.Fair))
}

// Await is Receive, but waits for a message on the lane. Await returns no messages
// when ctx ends first. Await requires a real clock.
func (q *Queue) Await(ctx context.Context, lane hook.Lane, limit int) []Message {
	return messages(q.lane(lane).await(ctx, limit, q.Visibility, q.MaxReceives, q.Fair))
}

// Delete removes the message. Delete ignores an unknown id.
func (q *Queue) Delete(id string) {
	for _, l := range q.lanes {
		if _, ok := l.delete(id); ok {
			return
		}
	}
}

// Purge removes the messages of the lane that nobody has received yet, also delayed ones,
// and returns them in no particular order. PurgeQueue of SQS removes all messages.
func (q *Queue) Purge(lane hook.Lane) []Message { return messages(q.lane(lane).purge()) }

// ChangeVisibility makes a received message visible again after d, rounded up to whole
// seconds, as ChangeMessageVisibility of SQS. ChangeVisibility ignores an unknown id.
func (q *Queue) ChangeVisibility(id string, d time.Duration) {
	for _, l := range q.lanes {
		l.changeVisibility(id, d)
	}
}

// Next returns the earliest time of visibility of all messages, for simulations to
// advance the clock; ok is false without messages.
func (q *Queue) Next() (at time.Time, ok bool) {
	for _, l := range q.lanes {
		if first, some := l.next(); some && (!ok || first.Before(at)) {
			at, ok = first, true
		}
	}
	return at, ok
}

// NextOf is Next for the messages of a lane.
func (q *Queue) NextOf(lane hook.Lane) (at time.Time, ok bool) { return q.lane(lane).next() }

// lane returns the queue of a valid lane.
func (q *Queue) lane(lane hook.Lane) *standardQueue[content] { return q.lanes[lane-hook.LaneLive] }

// validate checks the arguments of Send.
func (q *Queue) validate(lane hook.Lane, delay time.Duration) error {
	switch {
	case lane < hook.LaneLive || lane > hook.LaneCoalesce:
		return &hook.Error{Code: hook.CodeInternal, Message: "unknown lane " + lane.String()}
	case delay < 0 || delay > hook.MaxQueueDelay:
		return &hook.Error{Code: hook.CodeInternal, Message: fmt.Sprintf("delay %s is out of range 0 to %s", delay, hook.MaxQueueDelay)}
	}
	return nil
}

func (q *Queue) put(lane hook.Lane, group string, task hook.Task, visibleAt time.Time) error {
	body, err := task.Encode()
	if err != nil {
		return fmt.Errorf("send to lane %s: %w", lane, err)
	}
	q.lane(lane).put(group, content{task: task, body: body}, visibleAt)
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
