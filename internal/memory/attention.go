package memory

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"surehook/internal/gate"
	"surehook/internal/hook"
)

var _ gate.Attention = (*Attention)(nil)

// Attention is the queue of looks that the breaker is asked for. Like SQS it
// hides a message that was received and shows it again unless it is deleted.
// It is safe for concurrent use.
type Attention struct {
	// Visibility is how long a received message is hidden; a minute at first.
	Visibility time.Duration

	now func() time.Time

	mu    sync.Mutex
	asked int
	looks []*lookMessage // in the order they were asked for
}

// LookMessage is a look that was received.
type LookMessage struct {
	ID           string
	Look         hook.Look
	ReceiveCount int // this time included
}

type lookMessage struct {
	LookMessage
	visibleAt time.Time
}

// NewAttention returns an empty queue that lives by now.
func NewAttention(now func() time.Time) *Attention {
	return &Attention{Visibility: defaultVisibility, now: now}
}

// Ask keeps the look, to be received after the delay, which is rounded up to
// whole seconds and cut to 15 minutes.
func (a *Attention) Ask(_ context.Context, look hook.Look, delay time.Duration) error {
	delay = min(max(delay, 0), hook.MaxQueueDelay)
	a.mu.Lock()
	defer a.mu.Unlock()

	a.asked++
	a.looks = append(a.looks, &lookMessage{
		LookMessage: LookMessage{ID: strconv.Itoa(a.asked), Look: look},
		visibleAt:   a.now().Add((delay + time.Second - 1).Truncate(time.Second)),
	})
	return nil
}

// Receive returns at most limit looks that are visible now, in the order they
// were asked for, and hides them for Visibility.
func (a *Attention) Receive(limit int) []LookMessage {
	a.mu.Lock()
	defer a.mu.Unlock()

	now := a.now()
	var received []LookMessage
	for _, m := range a.looks {
		if len(received) == limit {
			break
		}
		if !now.Before(m.visibleAt) {
			m.visibleAt = now.Add(a.Visibility)
			m.ReceiveCount++
			received = append(received, m.LookMessage)
		}
	}
	return received
}

// Delete removes the look, if it is there.
func (a *Attention) Delete(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()

	a.looks = slices.DeleteFunc(a.looks, func(m *lookMessage) bool { return m.ID == id })
}

// Next returns the time at which the first look is or becomes visible; ok is
// false if there is none.
func (a *Attention) Next() (at time.Time, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()

	for _, m := range a.looks {
		if !ok || m.visibleAt.Before(at) {
			at, ok = m.visibleAt, true
		}
	}
	return at, ok
}
