package memory

import (
	"context"
	"time"

	"surehook.example/surehook/internal/delivery/breaker"
	"surehook.example/surehook/internal/hook"
)

var _ breaker.DeadLetters = (*DeadLetters)(nil)

const (
	letterBatch      = 10 // dead letters per Receive, at most
	letterVisibility = time.Minute
)

// DeadLetters is the dead-letter queue. DeadLetters is safe for concurrent use.
type DeadLetters struct {
	queues  *TaskQueues
	letters *standardQueue[letter]
}

// letter is a dead letter and its encoded form.
type letter struct {
	hook.DeadLetter

	body string
}

// NewDeadLetters returns an empty dead-letter queue. Redrive moves dead letters to
// the queues of q. Dead letters and q share a clock and one sequence
// of message ids.
func NewDeadLetters(q *TaskQueues) *DeadLetters {
	return &DeadLetters{queues: q, letters: newStandardQueue[letter](q.now, q.numbers)}
}

// Send stores the dead letter.
func (d *DeadLetters) Send(_ context.Context, l hook.DeadLetter) error {
	body, err := l.Encode()
	if err != nil {
		return err
	}
	d.letters.put(string(l.Endpoint), letter{DeadLetter: l, body: body}, d.queues.now())
	return nil
}

// Letters returns all dead letters, hidden or not, in the order of Send.
func (d *DeadLetters) Letters() []hook.DeadLetter {
	var all []hook.DeadLetter
	for _, e := range d.letters.list() {
		all = append(all, e.value.DeadLetter)
	}
	return all
}

// Receive returns the letters visible longest.
func (d *DeadLetters) Receive(context.Context) ([]breaker.Letter, error) {
	var received []breaker.Letter
	for _, e := range d.letters.receive(letterBatch, letterVisibility, 0, false) {
		received = append(received, breaker.Letter{ID: e.id, Receipt: e.id, Body: e.value.body})
	}
	return received, nil
}

// Remove ignores letters already removed.
func (d *DeadLetters) Remove(_ context.Context, letters []breaker.Letter) error {
	for _, l := range letters {
		d.letters.delete(l.Receipt)
	}
	return nil
}

// Depth returns the exact number of letters.
func (d *DeadLetters) Depth(context.Context) (int, error) { return d.letters.len(), nil }

// Redrive moves all visible dead letters to the queue and returns their number.
// As with an SQS redrive, the message body stays a dead letter.
func (d *DeadLetters) Redrive(queue hook.Queue) int {
	moved := d.letters.receive(d.letters.len(), letterVisibility, 0, false)
	for _, e := range moved {
		d.letters.delete(e.id)
		d.queues.of(queue).put(e.group.id, content{task: e.value.Task(), body: e.value.body}, d.queues.now())
	}
	return len(moved)
}
