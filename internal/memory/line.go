package memory

import (
	"cmp"
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"surehook/internal/hook"
)

const defaultVisibility = time.Minute

// line is a queue of SQS. A message that was received is hidden, and shown
// again unless it is deleted; the order is that in which they became visible,
// and of those at the same time that in which they were put. It is safe for
// concurrent use.
type line[T any] struct {
	now     func() time.Time
	numbers *atomic.Int64 // of all messages of all lines that share it
	wake    chan struct{} // has room for one: somebody who waits should look again

	mu      sync.Mutex
	all     map[string]*entry[T]
	hidden  *ordered[*entry[T]] // not visible when it was last looked; all others are with their groups
	groups  map[hook.EndpointID]*group[T]
	heads   *ordered[*group[T]] // those that have visible messages, by their first
	flights int                 // messages that were received and are hidden
}

type entry[T any] struct {
	id        string
	number    int64
	group     *group[T]
	value     T
	visibleAt time.Time
	hidden    bool
	received  int // times
}

// flies reports whether the message was received and is hidden.
func (e *entry[T]) flies() bool { return e.hidden && e.received > 0 }

// group is the messages that have the same group id.
type group[T any] struct {
	id      hook.EndpointID // empty: they have none
	visible *ordered[*entry[T]]
	head    *entry[T] // the first visible one, by which the group is in line.heads; nil: it is not
	flights int
}

func newLine[T any](now func() time.Time, numbers *atomic.Int64) *line[T] {
	return &line[T]{
		now:     now,
		numbers: numbers,
		wake:    make(chan struct{}, 1),
		all:     make(map[string]*entry[T]),
		hidden:  newOrdered(compareEntries[T]),
		groups:  make(map[hook.EndpointID]*group[T]),
		heads:   newOrdered(func(a, b *group[T]) int { return compareEntries(a.head, b.head) }),
	}
}

func compareEntries[T any](a, b *entry[T]) int {
	if c := a.visibleAt.Compare(b.visibleAt); c != 0 {
		return c
	}
	return cmp.Compare(a.number, b.number)
}

// put keeps the value, to be received from the time given on.
func (l *line[T]) put(id hook.EndpointID, value T, visibleAt time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()

	g := l.groups[id]
	if g == nil {
		g = &group[T]{id: id, visible: newOrdered(compareEntries[T])}
		l.groups[id] = g
	}
	number := l.numbers.Add(1)
	e := &entry[T]{id: strconv.FormatInt(number, 10), number: number, group: g, value: value, visibleAt: visibleAt}
	l.all[e.id] = e
	l.hide(e)
	l.signal()
}

// receive hides at most limit messages that are visible now for the time given
// and returns copies of them. If it is fair, those of noisy groups come last.
func (l *line[T]) receive(limit int, visibility time.Duration, fair bool) []entry[T] {
	l.mu.Lock()
	defer l.mu.Unlock()

	now := l.now()
	l.show(now)
	var received []entry[T]
	for len(received) < limit {
		e, ok := l.choose(fair)
		if !ok {
			break
		}
		l.unlink(e)
		e.visibleAt = now.Add(visibility)
		e.received++
		l.hide(e)
		received = append(received, *e)
	}
	return received
}

// await is receive, but it waits until there is a message or ctx ends.
func (l *line[T]) await(ctx context.Context, limit int, visibility time.Duration, fair bool) []entry[T] {
	defer l.signal() // somebody else is to wait for what comes next
	for {
		if received := l.receive(limit, visibility, fair); len(received) > 0 || ctx.Err() != nil {
			return received
		}
		l.sleep(ctx)
	}
}

// sleep returns when a message becomes visible, or one is put, or ctx ends.
func (l *line[T]) sleep(ctx context.Context) {
	var due <-chan time.Time
	if at, ok := l.next(); ok {
		timer := time.NewTimer(at.Sub(l.now()))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
	case <-l.wake:
	case <-due:
	}
}

// delete removes the message and returns it, if it is there.
func (l *line[T]) delete(id string) (removed entry[T], ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()

	e, ok := l.all[id]
	if !ok {
		return removed, false
	}
	l.unlink(e)
	delete(l.all, id)
	return *e, true
}

// next returns the time at which the first message is or becomes visible; ok is
// false if there is none.
func (l *line[T]) next() (at time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()

	if e, ok := l.hidden.first(); ok {
		at = e.visibleAt
	}
	if g, ok := l.heads.first(); ok && (at.IsZero() || g.head.visibleAt.Before(at)) {
		at = g.head.visibleAt
	}
	return at, len(l.all) > 0
}

// signal tells one of those that wait to look again.
func (l *line[T]) signal() {
	select {
	case l.wake <- struct{}{}:
	default: // somebody will look anyway
	}
}

// show puts the messages whose time has come with their groups.
func (l *line[T]) show(now time.Time) {
	for e, ok := l.hidden.first(); ok && !e.visibleAt.After(now); e, ok = l.hidden.first() {
		l.unlink(e)
		e.group.visible.add(e)
		l.rank(e.group)
	}
}

func (l *line[T]) hide(e *entry[T]) {
	e.hidden = true
	l.hidden.add(e)
	l.count(e, 1)
}

// unlink takes the message from where it is.
func (l *line[T]) unlink(e *entry[T]) {
	if !e.hidden {
		e.group.visible.remove(e)
		l.rank(e.group)
		return
	}
	l.hidden.remove(e)
	l.count(e, -1)
	e.hidden = false
}

func (l *line[T]) count(e *entry[T], n int) {
	if e.flies() {
		l.flights += n
		e.group.flights += n
	}
}

// rank puts the group where its first visible message belongs.
func (l *line[T]) rank(g *group[T]) {
	head, _ := g.visible.first()
	if head == g.head {
		return
	}
	if g.head != nil {
		l.heads.remove(g)
	}
	if g.head = head; head != nil {
		l.heads.add(g)
	}
}

// choose returns the message to be received next; ok is false if none is visible.
func (l *line[T]) choose(fair bool) (e *entry[T], ok bool) {
	if fair {
		for g := range l.heads.all() { // at most nine groups are noisy
			if !l.noisy(g) {
				return g.head, true
			}
		}
	}
	g, ok := l.heads.first()
	if !ok {
		return nil, false
	}
	return g.head, true
}

// noisy reports whether a fair queue puts the group behind the others.
func (l *line[T]) noisy(g *group[T]) bool {
	const manyInFlight, shareOfAll = 30, 10
	return g.id != "" && g.flights >= manyInFlight && g.flights*shareOfAll > l.flights
}
