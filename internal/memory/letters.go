package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"surehook/internal/delivery/breaker"
	"surehook/internal/hook"
)

var _ breaker.DeadLetters = (*Queue)(nil)

// Bounds of Exhume.
const (
	exhumed     = 10 // letters at most
	exhumedTime = time.Minute
)

// letter is a dead letter and how it is written.
type letter struct {
	hook.DeadLetter

	body string
}

// Bury keeps the letter.
func (q *Queue) Bury(_ context.Context, l hook.DeadLetter) error {
	body, err := l.Encode()
	if err != nil {
		return err //nolint:wrapcheck // it names the letter
	}
	q.letters.put(l.Endpoint, letter{DeadLetter: l, body: body}, q.now())
	return nil
}

// Letters returns what lies there now, hidden or not, in the order it was buried.
func (q *Queue) Letters() []hook.DeadLetter {
	var all []hook.DeadLetter
	for _, e := range q.letters.list() {
		all = append(all, e.value.DeadLetter)
	}
	return all
}

// Exhume returns at most 10 letters that are visible and hides them for a minute.
func (q *Queue) Exhume(context.Context) ([]breaker.Letter, error) {
	var some []breaker.Letter
	for _, e := range q.letters.receive(exhumed, exhumedTime, false) {
		some = append(some, breaker.Letter{ID: e.id, Receipt: e.id, Body: e.value.body})
	}
	return some, nil
}

// Remove removes letters that Exhume returned, those that are still there.
func (q *Queue) Remove(_ context.Context, letters []breaker.Letter) error {
	for _, l := range letters {
		q.letters.delete(l.Receipt)
	}
	return nil
}

// Depth returns how many letters there are, those that are hidden included.
func (q *Queue) Depth(context.Context) (int, error) { return q.letters.len(), nil }

// Redrive moves all letters, but those that are hidden, to the lane and returns
// how many they were. As when SQS does it, they stay dead letters by what is
// written in them.
func (q *Queue) Redrive(lane hook.Lane) int {
	moved := q.letters.receive(q.letters.len(), exhumedTime, false)
	for _, e := range moved {
		q.letters.delete(e.id)
		q.lane(lane).put(e.group.id, content{token: e.value.Token(), body: e.value.body}, q.now())
	}
	return len(moved)
}

// list returns copies of all messages, in the order they were put.
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

// len returns how many messages there are.
func (l *line[T]) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()

	return len(l.all)
}
