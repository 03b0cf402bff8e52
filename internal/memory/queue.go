package memory

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"surehook/internal/deliver"
	"surehook/internal/hook"
)

var (
	_ deliver.Queue       = (*Queue)(nil)
	_ deliver.DeadLetters = (*Queue)(nil)
)

const defaultVisibility = time.Minute

// Queue is the lanes and the dead letters. Like SQS it hides a message that was
// received and shows it again unless it is deleted. It is safe for concurrent use.
type Queue struct {
	// Visibility is how long a received message is hidden; a minute at first.
	Visibility time.Duration
	// Fair lets the messages of quiet groups go first, as a fair queue of SQS
	// does: a group is noisy while it has 30 messages or more in flight and more
	// than a tenth of all. Without it messages come in the order they were sent.
	Fair bool

	now func() time.Time

	mu       sync.Mutex
	sent     int
	messages []*message // in the order they were sent
	letters  []hook.DeadLetter
}

// Message is one that was received.
type Message struct {
	ID           string
	Group        hook.EndpointID // empty if a schedule sent it
	Token        hook.Token
	ReceiveCount int // this time included
}

type message struct {
	Message
	lane      hook.Lane
	visibleAt time.Time
}

// NewQueue returns an empty queue that lives by now.
func NewQueue(now func() time.Time) *Queue {
	return &Queue{Visibility: defaultVisibility, now: now}
}

// Send puts the tokens on the lane, to be received after the delay: 0 to 15
// minutes, rounded up to whole seconds.
func (q *Queue) Send(_ context.Context, lane hook.Lane, tokens []hook.Token, delay time.Duration) []error {
	if delay < 0 || delay > hook.MaxQueueDelay {
		err := &hook.Error{Code: hook.CodeInternal, Message: fmt.Sprintf("a delay of %s is not within 0 to %s", delay, hook.MaxQueueDelay)}
		errs := make([]error, len(tokens))
		for i := range errs {
			errs[i] = err
		}
		return errs
	}
	visibleAt := q.now().Add((delay + time.Second - 1).Truncate(time.Second))
	for _, token := range tokens {
		q.put(lane, token.Delivery.Endpoint, token, visibleAt)
	}
	return nil
}

// Bury keeps the letter.
func (q *Queue) Bury(_ context.Context, letter hook.DeadLetter) error {
	q.mu.Lock()
	defer q.mu.Unlock()

	q.letters = append(q.letters, letter)
	return nil
}

// Letters returns what was buried, in order.
func (q *Queue) Letters() []hook.DeadLetter {
	q.mu.Lock()
	defer q.mu.Unlock()

	return slices.Clone(q.letters)
}

// Receive returns at most limit messages that are visible on the lane now, in
// the order they were sent, and hides them for Visibility.
func (q *Queue) Receive(lane hook.Lane, limit int) []Message {
	q.mu.Lock()
	defer q.mu.Unlock()

	now := q.now()
	received := q.take(lane, limit, now, q.noisy(lane, now))
	return append(received, q.take(lane, limit-len(received), now, nil)...)
}

// take receives messages whose group is not passed over.
func (q *Queue) take(lane hook.Lane, limit int, now time.Time, passOver map[hook.EndpointID]bool) []Message {
	var received []Message
	for _, m := range q.messages {
		if len(received) == limit {
			break
		}
		if m.lane == lane && !now.Before(m.visibleAt) && !passOver[m.Group] {
			m.visibleAt = now.Add(q.Visibility)
			m.ReceiveCount++
			received = append(received, m.Message)
		}
	}
	return received
}

// noisy returns the groups that a fair queue puts behind the others.
func (q *Queue) noisy(lane hook.Lane, now time.Time) map[hook.EndpointID]bool {
	if !q.Fair {
		return nil
	}
	const manyInFlight, shareOfAll = 30, 10
	groups, all := make(map[hook.EndpointID]int), 0
	for _, m := range q.messages {
		if m.lane == lane && m.ReceiveCount > 0 && now.Before(m.visibleAt) {
			groups[m.Group]++
			all++
		}
	}
	noisy := make(map[hook.EndpointID]bool)
	for group, n := range groups {
		if group != "" && n >= manyInFlight && n*shareOfAll > all {
			noisy[group] = true
		}
	}
	return noisy
}

// Delete removes the message, if it is there.
func (q *Queue) Delete(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()

	q.messages = slices.DeleteFunc(q.messages, func(m *message) bool { return m.ID == id })
}

// Next returns the time at which the first message is or becomes visible; ok is
// false if there is none. A simulation moves its clock there.
func (q *Queue) Next() (at time.Time, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()

	for _, m := range q.messages {
		if !ok || m.visibleAt.Before(at) {
			at, ok = m.visibleAt, true
		}
	}
	return at, ok
}

func (q *Queue) put(lane hook.Lane, group hook.EndpointID, token hook.Token, visibleAt time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()

	q.sent++
	q.messages = append(q.messages, &message{
		Message:   Message{ID: strconv.Itoa(q.sent), Group: group, Token: token},
		lane:      lane,
		visibleAt: visibleAt,
	})
}
