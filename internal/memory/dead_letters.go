package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"surehook/internal/delivery/breaker"
	"surehook/internal/hook"
)

var _ breaker.DeadLetters = (*DeadLetters)(nil)

const (
	letterBatch      = 10 // dead letters per Receive, at most
	letterVisibility = time.Minute
)

// DeadLetters is the queue of dead letters. DeadLetters is safe for concurrent
// use.
type DeadLetters struct {
	queue   *Queue
	letters *line[letter]
}

// letter is a dead letter and its encoded form.
type letter struct {
	hook.DeadLetter

	body string
}

// NewDeadLetters returns an empty queue of dead letters. Redrive moves dead
// letters to the lanes of q. Dead letters and q share a clock and one sequence
// of message ids.
func NewDeadLetters(q *Queue) *DeadLetters {
	return &DeadLetters{queue: q, letters: newLine[letter](q.now, q.numbers)}
}

// Send implements [breaker.DeadLetters].
func (d *DeadLetters) Send(_ context.Context, l hook.DeadLetter) error {
	body, err := l.Encode()
	if err != nil {
		return err //nolint:wrapcheck // it names the letter
	}
	d.letters.put(l.Endpoint, letter{DeadLetter: l, body: body}, d.queue.now())
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

// Receive implements [breaker.DeadLetters].
func (d *DeadLetters) Receive(context.Context) ([]breaker.Letter, error) {
	var received []breaker.Letter
	for _, e := range d.letters.receive(letterBatch, letterVisibility, false) {
		received = append(received, breaker.Letter{ID: e.id, Receipt: e.id, Body: e.value.body})
	}
	return received, nil
}

// Remove implements [breaker.DeadLetters].
func (d *DeadLetters) Remove(_ context.Context, letters []breaker.Letter) error {
	for _, l := range letters {
		d.letters.delete(l.Receipt)
	}
	return nil
}

// Depth implements [breaker.DeadLetters]. The count is exact.
func (d *DeadLetters) Depth(context.Context) (int, error) { return d.letters.len(), nil }

// Redrive moves all visible dead letters to the lane and returns their number.
// As with an SQS redrive, the message body stays a dead letter.
func (d *DeadLetters) Redrive(lane hook.Lane) int {
	moved := d.letters.receive(d.letters.len(), letterVisibility, false)
	for _, e := range moved {
		d.letters.delete(e.id)
		d.queue.lane(lane).put(e.group.id, content{token: e.value.Token(), body: e.value.body}, d.queue.now())
	}
	return len(moved)
}

// list returns copies of all messages, in the order of put.
func (l *line[T]) list() []entry[T] {
	l.mu.Lock()
	defer l.mu.Unlock()

	all := make([]entry[T], 0, len(l.all))
	for _, e := range l.all {
		all = append(all, *e)
	}
	slices.SortFunc(all, func(a, b entry[T]) int { return cmp.Compare(a.number, b.number) })
	return all
}

// len returns the number of messages.
func (l *line[T]) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()

	return len(l.all)
}
