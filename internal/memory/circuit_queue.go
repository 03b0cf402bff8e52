package memory

import (
	"context"
	"sync/atomic"
	"time"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
)

var _ gate.CircuitQueue = (*CircuitQueue)(nil)

// CircuitQueue is the queue of looks that the breaker is asked for. Like SQS it
// hides a message that was received and shows it again unless it is deleted.
// It is safe for concurrent use.
type CircuitQueue struct {
	// Visibility is how long a received message is hidden; a minute at first.
	Visibility time.Duration

	now   func() time.Time
	looks *line[hook.CircuitCheck]
}

// CircuitMessage is a look that was received.
type CircuitMessage struct {
	ID           string
	Look         hook.CircuitCheck
	ReceiveCount int // this time included
}

// NewCircuitQueue returns an empty queue that lives by now.
func NewCircuitQueue(now func() time.Time) *CircuitQueue {
	return &CircuitQueue{Visibility: defaultVisibility, now: now, looks: newLine[hook.CircuitCheck](now, new(atomic.Int64))}
}

// Enqueue keeps the look, to be received after the delay, which is rounded up to
// whole seconds and cut to 15 minutes.
func (a *CircuitQueue) Enqueue(_ context.Context, look hook.CircuitCheck, delay time.Duration) error {
	a.looks.put(look.Endpoint, look, a.now().Add(queueDelay(delay)))
	return nil
}

// Receive returns at most limit looks that are visible now, in the order in
// which they became so, and hides them for Visibility.
func (a *CircuitQueue) Receive(limit int) []CircuitMessage {
	return lookMessages(a.looks.receive(limit, a.Visibility, false))
}

// Await is Receive, but waits until there is a look; none when ctx ends before.
// It is for those who live by the real time.
func (a *CircuitQueue) Await(ctx context.Context, limit int) []CircuitMessage {
	return lookMessages(a.looks.await(ctx, limit, a.Visibility, false))
}

// Delete removes the look, if it is there.
func (a *CircuitQueue) Delete(id string) { a.looks.delete(id) }

// Next returns the time at which the first look is or becomes visible; ok is
// false if there is none.
func (a *CircuitQueue) Next() (at time.Time, ok bool) { return a.looks.next() }

func lookMessages(entries []entry[hook.CircuitCheck]) []CircuitMessage {
	var all []CircuitMessage
	for _, e := range entries {
		all = append(all, CircuitMessage{ID: e.id, Look: e.value, ReceiveCount: e.received})
	}
	return all
}

// queueDelay is how long SQS holds a message back that is to be held back so long.
func queueDelay(delay time.Duration) time.Duration {
	return wholeSeconds(min(max(delay, 0), hook.MaxQueueDelay))
}
