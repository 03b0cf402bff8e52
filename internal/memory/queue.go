package memory

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"surehook/internal/delivery/deliver"
	"surehook/internal/hook"
)

var _ deliver.Queue = (*Queue)(nil)

// Queue is the lanes. Like SQS it hides a message that was
// received and shows it again unless it is deleted. It is safe for concurrent use.
type Queue struct {
	// Visibility is how long a received message is hidden; a minute at first.
	Visibility time.Duration
	// Fair lets the messages of quiet groups go first, as a fair queue of SQS
	// does: a group is noisy while it has 30 messages or more in flight and more
	// than a tenth of all. Without it messages come in the order in which they
	// became visible, and those that did at once in the order they were sent.
	Fair bool

	now     func() time.Time
	numbers *atomic.Int64     // of messages of all lanes and of the dead letters
	lanes   [3]*line[content] // by lane, from the first
}

// content is what is on a lane: a token and how it is written.
type content struct {
	token hook.Token
	body  string
}

// Message is one that was received.
type Message struct {
	ID           string
	Group        hook.EndpointID // empty if a schedule sent it
	Body         string          // a token, encoded, or what was redriven
	Token        hook.Token      // the token that the body is read as
	ReceiveCount int             // this time included
}

// NewQueue returns an empty queue that lives by now.
func NewQueue(now func() time.Time) *Queue {
	numbers := new(atomic.Int64)
	q := &Queue{Visibility: defaultVisibility, now: now, numbers: numbers}
	for i := range q.lanes {
		q.lanes[i] = newLine[content](now, numbers)
	}
	return q
}

// Send puts the tokens on the lane, to be received after the delay: 0 to 15
// minutes, rounded up to whole seconds.
func (q *Queue) Send(_ context.Context, lane hook.Lane, tokens []hook.Token, delay time.Duration) []error {
	errs := make([]error, len(tokens))
	if fault := q.refuse(lane, delay); fault != nil {
		for i := range errs {
			errs[i] = fault
		}
		return errs
	}
	visibleAt := q.now().Add(wholeSeconds(delay))
	failed := false
	for i, token := range tokens {
		errs[i] = q.put(lane, token.Delivery.Endpoint, token, visibleAt)
		failed = failed || errs[i] != nil
	}
	if !failed {
		return nil
	}
	return errs
}

// Receive returns at most limit messages that are visible on the lane now, and
// hides them for Visibility.
func (q *Queue) Receive(lane hook.Lane, limit int) []Message {
	return messages(q.lane(lane).receive(limit, q.Visibility, q.Fair))
}

// Await is Receive, but waits until there is a message on the lane; none when
// ctx ends before. It is for those who live by the real time.
func (q *Queue) Await(ctx context.Context, lane hook.Lane, limit int) []Message {
	return messages(q.lane(lane).await(ctx, limit, q.Visibility, q.Fair))
}

// Delete removes the message, if it is there.
func (q *Queue) Delete(id string) {
	for _, l := range q.lanes {
		if _, ok := l.delete(id); ok {
			return
		}
	}
}

// Next returns the time at which the first message of all lanes is or becomes
// visible; ok is false if there is none. A simulation moves its clock there.
func (q *Queue) Next() (at time.Time, ok bool) {
	for _, l := range q.lanes {
		if first, some := l.next(); some && (!ok || first.Before(at)) {
			at, ok = first, true
		}
	}
	return at, ok
}

// lane returns the line of the lane. There must be such a lane.
func (q *Queue) lane(lane hook.Lane) *line[content] { return q.lanes[lane-hook.LaneLive] }

// refuse returns what is wrong with sending so, or nil.
func (q *Queue) refuse(lane hook.Lane, delay time.Duration) error {
	switch {
	case lane < hook.LaneLive || lane > hook.LaneReplay:
		return &hook.Error{Code: hook.CodeInternal, Message: "there is no lane " + lane.String()}
	case delay < 0 || delay > hook.MaxQueueDelay:
		return &hook.Error{Code: hook.CodeInternal, Message: fmt.Sprintf("a delay of %s is not within 0 to %s", delay, hook.MaxQueueDelay)}
	}
	return nil
}

func (q *Queue) put(lane hook.Lane, group hook.EndpointID, token hook.Token, visibleAt time.Time) error {
	body, err := token.Encode()
	if err != nil {
		return fmt.Errorf("send to lane %s: %w", lane, err)
	}
	q.lane(lane).put(group, content{token: token, body: body}, visibleAt)
	return nil
}

func messages(entries []entry[content]) []Message {
	var all []Message
	for _, e := range entries {
		all = append(all, Message{
			ID: e.id, Group: e.group.id, Body: e.value.body, Token: e.value.token, ReceiveCount: e.received,
		})
	}
	return all
}

// wholeSeconds rounds a delay up, as SQS counts them.
func wholeSeconds(delay time.Duration) time.Duration {
	return (delay + time.Second - 1).Truncate(time.Second)
}
