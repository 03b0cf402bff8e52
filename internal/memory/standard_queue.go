package memory

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const defaultVisibility = time.Minute

// standardQueue is a standard queue of SQS. A received message is hidden for a
// time, and visible again unless deleted. The order of messages is the time of
// visibility, then the order of put. standardQueue is safe for concurrent use.
type standardQueue[T any] struct {
	now     func() time.Time
	numbers *atomic.Int64 // sequence of message numbers, shared by several queues

	mu     sync.Mutex
	all    map[string]*entry[T]
	hidden ordered[*entry[T]] // hidden at the last call of show; all other messages are in groups
	groups map[string]*group[T]
	heads  ordered[*group[T]] // groups with visible messages, by first message
	load   load               // of the received and hidden messages

	waiting []chan struct{} // calls of await; closing the channel wakes the call
	woken   bool            // a call is awake, and has not received yet
	alarm   *time.Timer     // rings when the next message becomes visible
	alarmAt time.Time       // zero: not set

	undeliverable []*entry[T] // received too often, or refused by Lambda
}

type entry[T any] struct {
	id        string
	number    int64
	group     *group[T]
	value     T
	visibleAt time.Time
	hidden    bool
	received  int // number of receipts
}

// isInFlight reports whether the message is received and hidden.
func (e *entry[T]) isInFlight() bool { return e.hidden && e.received > 0 }

// group is the messages of one group id.
type group[T any] struct {
	id      string // empty: messages without group
	visible ordered[*entry[T]]
	head    *entry[T] // first visible message, the group's position in heads; nil: none
	load    load
	sentAt  time.Time // of the last message
	noisy   bool      // at the last call of isNoisy
}

func newStandardQueue[T any](now func() time.Time, numbers *atomic.Int64) *standardQueue[T] {
	return &standardQueue[T]{
		now:     now,
		numbers: numbers,
		all:     make(map[string]*entry[T]),
		hidden:  newOrdered(compareEntries[T]),
		groups:  make(map[string]*group[T]),
		heads:   newOrdered(func(a, b *group[T]) int { return compareEntries(a.head, b.head) }),
	}
}

func compareEntries[T any](a, b *entry[T]) int {
	if c := a.visibleAt.Compare(b.visibleAt); c != 0 {
		return c
	}
	return cmp.Compare(a.number, b.number)
}

// put adds a message to the group, visible from visibleAt on, and returns its id.
func (q *standardQueue[T]) put(id string, value T, visibleAt time.Time) string {
	q.mu.Lock()
	defer q.mu.Unlock()

	g := q.groups[id]
	if g == nil {
		g = &group[T]{id: id, visible: newOrdered(compareEntries[T])}
		q.groups[id] = g
	}
	g.sentAt = q.now()
	number := q.numbers.Add(1)
	e := &entry[T]{id: strconv.FormatInt(number, 10), number: number, group: g, value: value, visibleAt: visibleAt}
	q.all[e.id] = e
	if visibleAt.After(g.sentAt) {
		q.hide(e)
	} else {
		q.reveal(e)
	}
	q.arrange()
	return e.id
}

// receive hides at most limit visible messages for the visibility timeout and
// returns copies. With fair, messages of noisy groups come last. Messages received
// maxReceives times already are undeliverable; 0 is no maximum.
func (q *standardQueue[T]) receive(limit int, visibility time.Duration, maxReceives int, fair bool) []entry[T] {
	q.mu.Lock()
	defer q.mu.Unlock()

	now := q.now()
	q.show(now)
	taken := make([]*entry[T], 0, min(limit, len(q.all)))
	for len(taken) < limit {
		e, ok := q.choose(fair, now)
		if !ok {
			break
		}
		if maxReceives > 0 && e.received >= maxReceives {
			q.setAside(e)
			continue
		}
		q.unlink(e)
		e.visibleAt = now.Add(visibility)
		e.received++
		q.hide(e)
		taken = append(taken, e)
	}
	q.woken = false
	q.arrange() // more messages are for another call
	received := make([]entry[T], len(taken))
	for i, e := range taken {
		received[i] = *e
	}
	return received
}

// await is receive, but waits for a message or the end of ctx.
func (q *standardQueue[T]) await(ctx context.Context, limit int, visibility time.Duration, maxReceives int, fair bool) []entry[T] {
	for {
		if received := q.receive(limit, visibility, maxReceives, fair); len(received) > 0 || ctx.Err() != nil {
			return received
		}
		q.sleep(ctx)
	}
}

// sleep returns when a message is visible, or when ctx ends.
func (q *standardQueue[T]) sleep(ctx context.Context) {
	wake := make(chan struct{})
	q.mu.Lock()
	q.waiting = append(q.waiting, wake)
	q.arrange()
	q.mu.Unlock()
	select {
	case <-wake:
		runtime.Gosched() // under load, other senders fill the batch first
	case <-ctx.Done():
		q.leave(wake)
	}
}

// leave ends the wait of a call without a message.
func (q *standardQueue[T]) leave(wake chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()

	if i := slices.Index(q.waiting, wake); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		return
	}
	q.woken = false
	q.arrange() // for another call
}

// arrange wakes a waiting call when a message is visible, or sets the alarm for the next
// message. One call at a time is awake, so messages that arrive meanwhile are one batch. The
// call with the shortest wait is the next: its stack has the size for the work.
func (q *standardQueue[T]) arrange() {
	if len(q.waiting) == 0 || q.woken {
		return
	}
	at, ok := q.earliest()
	if !ok {
		return
	}
	now := q.now()
	if !at.After(now) {
		last := len(q.waiting) - 1
		close(q.waiting[last])
		q.waiting, q.woken = q.waiting[:last], true
		return
	}
	switch {
	case q.alarm == nil:
		q.alarm = time.AfterFunc(at.Sub(now), q.ring)
	case q.alarmAt.IsZero() || at.Before(q.alarmAt):
		q.alarm.Reset(at.Sub(now))
	default:
		return
	}
	q.alarmAt = at
}

func (q *standardQueue[T]) ring() {
	q.mu.Lock()
	defer q.mu.Unlock()

	q.alarmAt = time.Time{}
	q.arrange()
}

// delete removes the message and returns a copy; ok is false without such a
// message.
func (q *standardQueue[T]) delete(id string) (removed entry[T], ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()

	e, ok := q.all[id]
	if !ok {
		return removed, false
	}
	q.unlink(e)
	delete(q.all, id)
	return *e, true
}

// changeVisibility makes a received message visible again after d, rounded up to
// whole seconds. changeVisibility ignores an unknown id, and a message that is visible.
func (q *standardQueue[T]) changeVisibility(id string, d time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()

	e, ok := q.all[id]
	if !ok || !e.isInFlight() {
		return
	}
	q.unlink(e)
	e.visibleAt = q.now().Add(wholeSeconds(d))
	q.hide(e)
	q.arrange()
}

// next returns the earliest time of visibility of all messages; ok is false for an
// empty queue.
func (q *standardQueue[T]) next() (at time.Time, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()

	return q.earliest()
}

func (q *standardQueue[T]) earliest() (at time.Time, ok bool) {
	if e, ok := q.hidden.min(); ok {
		at = e.visibleAt
	}
	if g, ok := q.heads.min(); ok && (at.IsZero() || g.head.visibleAt.Before(at)) {
		at = g.head.visibleAt
	}
	return at, len(q.all) > 0
}

// show moves messages visible at now to their groups.
func (q *standardQueue[T]) show(now time.Time) {
	for e, ok := q.hidden.min(); ok && !e.visibleAt.After(now); e, ok = q.hidden.min() {
		q.unlink(e)
		q.reveal(e)
	}
}

// reveal makes the message visible.
func (q *standardQueue[T]) reveal(e *entry[T]) {
	e.group.visible.set(e)
	q.rank(e.group)
}

func (q *standardQueue[T]) hide(e *entry[T]) {
	e.hidden = true
	q.hidden.set(e)
	q.count(e, 1)
}

// unlink removes the message from hidden or from its group.
func (q *standardQueue[T]) unlink(e *entry[T]) {
	if !e.hidden {
		e.group.visible.delete(e)
		q.rank(e.group)
		return
	}
	q.hidden.delete(e)
	q.count(e, -1)
	e.hidden = false
}

func (q *standardQueue[T]) count(e *entry[T], n int) {
	if e.isInFlight() {
		now := q.now()
		q.load, e.group.load = q.load.add(n, now), e.group.load.add(n, now)
	}
}

// rank moves the group in heads to the position of its first visible message.
func (q *standardQueue[T]) rank(g *group[T]) {
	head, _ := g.visible.min()
	if head == g.head {
		return
	}
	if g.head != nil {
		q.heads.delete(g)
	}
	if g.head = head; head != nil {
		q.heads.set(g)
	} else {
		g.noisy = false // no message waits
	}
}

// choose returns the next message to receive; ok is false without visible
// messages.
func (q *standardQueue[T]) choose(fair bool, now time.Time) (e *entry[T], ok bool) {
	if fair {
		return q.chooseFairly(now)
	}
	g, ok := q.heads.min()
	if !ok {
		return nil, false
	}
	return g.head, true
}

// list returns copies of all messages, in the order of put.
func (q *standardQueue[T]) list() []entry[T] {
	q.mu.Lock()
	defer q.mu.Unlock()

	all := make([]entry[T], 0, len(q.all))
	for _, e := range q.all {
		all = append(all, *e)
	}
	slices.SortFunc(all, func(a, b entry[T]) int { return cmp.Compare(a.number, b.number) })
	return all
}

// len returns the number of messages.
func (q *standardQueue[T]) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()

	return len(q.all)
}

// purge removes the messages never received, and returns copies.
func (q *standardQueue[T]) purge() (removed []entry[T]) {
	q.mu.Lock()
	defer q.mu.Unlock()

	for id, e := range q.all {
		if e.received == 0 {
			q.unlink(e)
			delete(q.all, id)
			removed = append(removed, *e)
		}
	}
	return removed
}
