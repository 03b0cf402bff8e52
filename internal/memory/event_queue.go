package memory

import (
	"context"
	"sync/atomic"
	"time"

	"surehook.example/surehook/internal/admin/reject"
	"surehook.example/surehook/internal/delivery/source"
)

var (
	_ source.Queue = (*EventQueue)(nil)
	_ reject.Queue = (*EventQueue)(nil)
)

// EventQueue is the queue of events, and the queue of rejects. EventQueue is safe for
// concurrent use.
type EventQueue struct {
	// Visibility is the visibility timeout of received events; by default a minute.
	Visibility time.Duration

	now             func() time.Time
	events, rejects *standardQueue[source.Message]
}

// EventMessage is a received message of the events queue.
type EventMessage struct {
	source.Message

	Group        string // empty for none
	ReceiveCount int    // this receipt included
}

// NewEventQueue returns empty queues with the clock now.
func NewEventQueue(now func() time.Time) *EventQueue {
	numbers := new(atomic.Int64)
	return &EventQueue{Visibility: defaultVisibility, now: now, events: newStandardQueue[source.Message](now, numbers), rejects: newStandardQueue[source.Message](now, numbers)}
}

// Send sends the message to the events queue, and returns its id.
func (q *EventQueue) Send(m source.Message, group string, delay time.Duration) (id string) {
	m.SentAt = q.now()
	return q.events.put(group, m, q.now().Add(queueDelay(delay)))
}

// Return is Send.
func (q *EventQueue) Return(_ context.Context, m source.Message, group string, delay time.Duration) error {
	q.Send(m, group, delay)
	return nil
}

// Reject sends the message to the rejects.
func (q *EventQueue) Reject(_ context.Context, m source.Message) error {
	m.SentAt = q.now()
	q.rejects.put("", m, q.now())
	return nil
}

// Events returns at most limit visible messages of the events queue, and hides them
// for Visibility.
func (q *EventQueue) Events(limit int) []EventMessage {
	return receivedEvents(q.events.receive(limit, q.Visibility, 0, true))
}

// Await is Events, but waits for a message. Await returns no messages when ctx ends first. Await
// requires a real clock.
func (q *EventQueue) Await(ctx context.Context, limit int) []EventMessage {
	return receivedEvents(q.events.await(ctx, limit, q.Visibility, 0, true))
}

func receivedEvents(entries []entry[source.Message]) []EventMessage {
	all := make([]EventMessage, len(entries))
	for i, m := range eventMessages(entries) {
		all[i] = EventMessage{Message: m, Group: entries[i].group.id, ReceiveCount: entries[i].received}
	}
	return all
}

// Delete removes a message of the events queue. Delete ignores an unknown id.
func (q *EventQueue) Delete(id string) { q.events.delete(id) }

// ChangeVisibility makes a received message of the events queue visible again after d.
func (q *EventQueue) ChangeVisibility(id string, d time.Duration) { q.events.changeVisibility(id, d) }

// Next returns the earliest time of visibility of the events; ok is false without any.
func (q *EventQueue) Next() (at time.Time, ok bool) { return q.events.next() }

// AllRejects returns all rejects, hidden or not, in the order of Reject.
func (q *EventQueue) AllRejects() []source.Message { return eventMessages(q.rejects.list()) }

// Receive returns up to 10 rejects.
func (q *EventQueue) Receive(context.Context) ([]source.Message, error) {
	return eventMessages(q.rejects.receive(letterBatch, defaultVisibility, 0, false)), nil
}

// Release makes received rejects visible at once.
func (q *EventQueue) Release(_ context.Context, messages []source.Message) error {
	for _, m := range messages {
		q.rejects.changeVisibility(m.Receipt, 0)
	}
	return nil
}

// Remove ignores rejects already removed.
func (q *EventQueue) Remove(_ context.Context, messages []source.Message) error {
	for _, m := range messages {
		q.rejects.delete(m.Receipt)
	}
	return nil
}

func eventMessages(entries []entry[source.Message]) []source.Message {
	all := make([]source.Message, len(entries))
	for i, e := range entries {
		all[i] = e.value
		all[i].ID, all[i].Receipt = e.id, e.id
	}
	return all
}
