package memory

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"surehook.example/surehook/internal/delivery/breaker"
	"surehook.example/surehook/internal/hook"
)

var _ breaker.CircuitQueue = (*CircuitQueue)(nil)

// CircuitQueue is the queue of circuit checks and review pages. As with SQS, a received message is
// hidden for a time, and then visible again unless it was deleted. CircuitQueue is safe for
// concurrent use.
type CircuitQueue struct {
	// Visibility is the visibility timeout of received messages; by default a
	// minute.
	Visibility time.Duration
	// MaxReceives is the maxReceiveCount of the redrive policy. After so many receives, the next
	// one makes the message undeliverable. 0, the default, is no maximum.
	MaxReceives int

	now    func() time.Time
	checks *standardQueue[hook.CircuitMessage]
}

// CircuitMessage is a received circuit check, or a received review page.
type CircuitMessage struct {
	hook.CircuitMessage

	ID           string
	ReceiveCount int // including this one
}

// NewCircuitQueue returns an empty queue with the clock now.
func NewCircuitQueue(now func() time.Time) *CircuitQueue {
	return &CircuitQueue{Visibility: defaultVisibility, now: now, checks: newStandardQueue[hook.CircuitMessage](now, new(atomic.Int64))}
}

// Enqueue limits the delay to 0 to 15 minutes, and rounds it up to whole seconds.
func (q *CircuitQueue) Enqueue(_ context.Context, check hook.CircuitCheck, delay time.Duration) error {
	q.checks.put(string(check.Endpoint), hook.CircuitMessage{CircuitCheck: check}, q.now().Add(queueDelay(delay)))
	return nil
}

// EnqueueReview puts all pages in one group.
func (q *CircuitQueue) EnqueueReview(_ context.Context, page hook.ReviewPage) error {
	page.Endpoints = slices.Clone(page.Endpoints)
	q.checks.put("review", hook.CircuitMessage{Review: &page}, q.now())
	return nil
}

// Receive returns at most limit visible messages, in the order in which they became visible, and
// hides them for Visibility.
func (q *CircuitQueue) Receive(limit int) []CircuitMessage {
	return circuitMessages(q.checks.receive(limit, q.Visibility, q.MaxReceives, false))
}

// Await is Receive, but waits for a message. It returns none if ctx ends first. Await requires a real
// clock.
func (q *CircuitQueue) Await(ctx context.Context, limit int) []CircuitMessage {
	return circuitMessages(q.checks.await(ctx, limit, q.Visibility, q.MaxReceives, false))
}

// Delete removes the message. It ignores an unknown id.
func (q *CircuitQueue) Delete(id string) { q.checks.delete(id) }

// ChangeVisibility makes a received message visible again after d, rounded up to whole seconds, like
// ChangeMessageVisibility of SQS. It ignores an unknown id and a visible message.
func (q *CircuitQueue) ChangeVisibility(id string, d time.Duration) { q.checks.changeVisibility(id, d) }

// Next returns the earliest time at which a message is visible; ok is false without messages.
func (q *CircuitQueue) Next() (at time.Time, ok bool) { return q.checks.next() }

func circuitMessages(entries []entry[hook.CircuitMessage]) []CircuitMessage {
	var all []CircuitMessage
	for _, e := range entries {
		all = append(all, CircuitMessage{CircuitMessage: e.value, ID: e.id, ReceiveCount: e.received})
	}
	return all
}

// queueDelay returns the delay limited to the range of SQS, 0 to 15 minutes, and rounded up to whole
// seconds.
func queueDelay(delay time.Duration) time.Duration {
	return wholeSeconds(min(max(delay, 0), hook.MaxQueueDelay))
}
