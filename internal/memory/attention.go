package memory

import (
	"context"
	"sync/atomic"
	"time"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
)

var _ gate.Attention = (*Attention)(nil)

// Attention is the queue of looks that the breaker is asked for. Like SQS it
// hides a message that was received and shows it again unless it is deleted.
// It is safe for concurrent use.
type Attention struct {
	// Visibility is how long a received message is hidden; a minute at first.
	Visibility time.Duration

	now   func() time.Time
	looks *line[hook.Look]
}

// LookMessage is a look that was received.
type LookMessage struct {
	ID           string
	Look         hook.Look
	ReceiveCount int // this time included
}

// NewAttention returns an empty queue that lives by now.
func NewAttention(now func() time.Time) *Attention {
	return &Attention{Visibility: defaultVisibility, now: now, looks: newLine[hook.Look](now, new(atomic.Int64))}
}

// Ask keeps the look, to be received after the delay, which is rounded up to
// whole seconds and cut to 15 minutes.
func (a *Attention) Ask(_ context.Context, look hook.Look, delay time.Duration) error {
	a.looks.put(look.Endpoint, look, a.now().Add(queueDelay(delay)))
	return nil
}

// Receive returns at most limit looks that are visible now, in the order in
// which they became so, and hides them for Visibility.
func (a *Attention) Receive(limit int) []LookMessage {
	return lookMessages(a.looks.receive(limit, a.Visibility, false))
}

// Await is Receive, but waits until there is a look; none when ctx ends before.
// It is for those who live by the real time.
func (a *Attention) Await(ctx context.Context, limit int) []LookMessage {
	return lookMessages(a.looks.await(ctx, limit, a.Visibility, false))
}

// Delete removes the look, if it is there.
func (a *Attention) Delete(id string) { a.looks.delete(id) }

// Next returns the time at which the first look is or becomes visible; ok is
// false if there is none.
func (a *Attention) Next() (at time.Time, ok bool) { return a.looks.next() }

func lookMessages(entries []entry[hook.Look]) []LookMessage {
	var all []LookMessage
	for _, e := range entries {
		all = append(all, LookMessage{ID: e.id, Look: e.value, ReceiveCount: e.received})
	}
	return all
}

// queueDelay is how long SQS holds a message back that is to be held back so long.
func queueDelay(delay time.Duration) time.Duration {
	return wholeSeconds(min(max(delay, 0), hook.MaxQueueDelay))
}
