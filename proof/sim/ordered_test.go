package sim_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	adminendpoint "surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/rule/order"
)

// In seeds of their own, most endpoints are ordered, with both values of on_failure, and most events have
// one of a few ordering keys. Many clients post at the same time, in batches and again. Everything else
// goes on as in the other seeds: operators replay, cancel, discard and pause, and processes die.
//
// From what the table shows, the checks know which deliveries of a sequence are over: no request of the
// delivery is allowed before. A delivery is over when it is delivered, discarded or cancelled, and when
// it is dead, if its endpoint skips or its retention ended. What was over once, stays so: a replay of it
// comes later. In the end every sequence is idle, or its head is dead and blocks it.
//
// Owners change ordered and on_failure meanwhile. In some seeds tasks are lost, the records expire, or the table
// is restored, after which numbers are given again.

const (
	orderedDrain = 30 * time.Hour // of a long sequence at an endpoint that never answers

	waited    = "ordered attempts behind others"
	unblocked = "heads unblocked by an operator"
	reordered = "changes of ordered and on_failure"
	blocking  = "deliveries behind a blocking head, in the end"
	skipping  = "requests that name skipped numbers"
	voids     = "numbers without an event"
)

// boundless reports whether one of the tasks is of an ordered delivery, whose history does not bound its
// requests, messages, writes and attempts. A poster, the delivery before it, and the sweep may each send a
// task of the head, each of which may make the attempt (duplicate), is sent on by its own bound (messages),
// meets the write of another (writes), and costs reads of its sequence (requests). A task that comes after its
// turn is replaced by another (nonce), or comes again (others).
func (w *simulation) boundless(all ...hook.DeliveryRef) bool {
	return w.ordered && slices.ContainsFunc(all, w.hasNumber)
}

// boundlessBatch is boundless for the tasks of a process.
func (p *process) boundlessBatch() bool {
	return p.ordered && slices.ContainsFunc(p.batch, func(m memory.Message) bool { return p.boundless(m.Task.Delivery) })
}

// awaits reports whether the recorded delivery waits for its turn, and else since when it has a task: since its
// turn, or if its post died before its first task, since the sweep.
func (w *simulation) awaits(d hook.Delivery) (waits bool, since time.Time) {
	if w.ordered && d.State == hook.StateQueued {
		since = d.OverdueFrom().Add(sweepWithin)
	}
	if d.Turn() == 0 {
		return false, since
	}
	s := w.sequenceOf(order.IDOf(d))
	return d.Turn() > s.Head, later(since, s.TurnAt)
}

// TestOrdered runs seeds with ordered endpoints.
func TestOrdered(t *testing.T) {
	t.Parallel()

	seeds := max(24, *seedsFlag/10)
	if testing.Short() {
		seeds = 8
	}
	sum := make(map[string]int)
	for seed := *firstFlag; seed < *firstFlag+seeds; seed++ {
		w := simulate(t, options{seed: seed, level: levelOf(t, seed), sweeper: true, ordered: true, losing: seed%5 == 0, restores: seed%7 == 3 && !apart(seed), verbose: seed == *seedFlag})
		if w.broken != "" {
			t.Errorf("seed %d: %s\nprint it: go test -run 'TestOrdered$' -v ./proof/sim -args -seed %d -first %d -level %s", seed, w.broken, seed, seed, w.level.name)
		}
		if seed == *seedFlag {
			t.Logf("seed %d:\n%s", seed, strings.Join(w.trace, "\n"))
		}
		if t.Failed() {
			return
		}
		for what, n := range w.counts {
			sum[what] += n
		}
	}
	all := []string{"attempts", waited, unblocked, reordered, skipping, voids, "process deaths"}
	if !testing.Short() {
		all = append(all, blocking, "tasks lost", "runs with an expiry", "restores of the table")
	}
	for _, what := range all {
		if t.Logf("%d %s", sum[what], what); sum[what] == 0 {
			t.Errorf("no %s", what)
		}
	}
}

// sequence is what the checks know of a sequence.
type sequence struct {
	order.Sequence

	events    map[int64]hook.EventID // by number
	turns     map[int64]time.Time
	over      map[int64]bool
	delivered map[int64]bool // by the first generation
}

func (w *simulation) sequenceOf(id order.ID) *sequence {
	if w.sequences[id] == nil {
		w.sequences[id] = &sequence{events: make(map[int64]hook.EventID), turns: make(map[int64]time.Time), over: make(map[int64]bool), delivered: make(map[int64]bool)}
	}
	return w.sequences[id]
}

// arrangeInOrder makes two endpoints in three ordered, and half of these skip. The endpoint's id chooses,
// as in place.
func (w *simulation) arrangeInOrder(e *hook.Endpoint) {
	if !w.ordered || !mayBeOrdered(*e) {
		return
	}
	e.Coalesce, e.Ordered = hook.Coalescing{}, true
	if e.ID[10]%2 == 0 {
		e.OnFailure = hook.OnFailureSkip
	}
}

// drawOrder gives the requests of a client their ordering keys.
func (w *simulation) drawOrder(c *client) {
	if !w.ordered {
		return
	}
	for range w.rng.IntN(8) {
		r := c.requests[w.rng.IntN(len(c.requests))]
		if c.keyed {
			r.IdempotencyKey += fmt.Sprintf("-%d", len(c.requests))
		}
		c.requests = append(c.requests, r)
	}
	for i := range c.requests {
		c.requests[i].OrderingKey = pick(w, "", "cart-1", "cart-1", "cart-2")
	}
}

// planOrder plans the operator who looks after blocked sequences.
func (w *simulation) planOrder() {
	if !w.ordered {
		return
	}
	w.operations += 30
	for range 10 {
		w.plan.add(start.Add(w.within(suffering)), w.unblock)
	}
	for range w.rng.IntN(6) {
		w.plan.add(start.Add(w.within(suffering)), w.reorder)
	}
	for n := range 20 {
		w.plan.add(start.Add(suffering+time.Duration(n)*15*time.Minute), w.unblock)
	}
}

// reorder changes what an endpoint says about order, if it may be ordered.
func (w *simulation) reorder() {
	if e := pick(w, w.endpoints...); mayBeOrdered(e.Endpoint) {
		w.count(reordered)
		w.change(e, "order", adminendpoint.Fields{Ordered: new(w.chance(0.7)), OnFailure: new(pick(w, hook.OnFailureBlock, hook.OnFailureSkip))})
	}
}

func mayBeOrdered(e hook.Endpoint) bool { return e.ID[9]%3 != 0 }

// unblock replays or discards some of the dead heads that block their sequences.
func (w *simulation) unblock() {
	w.operations--
	for _, e := range w.posted {
		for _, target := range e.Targets {
			d, ok := w.newest(hook.QueuedDelivery(e, target).Ref())
			if !ok || d.State != hook.StateDead || w.sequenceOf(order.IDOf(d)).Head != d.Turn() || d.Turn() == 0 || !w.chance(0.3) {
				continue
			}
			w.count(unblocked)
			w.handIn(e.Tenant, "unblock "+d.ID.String(), func(ctx context.Context, p *process) error {
				r := p.wiring().Replayer()
				if d.UpdatedAt.UnixMilli()%2 == 0 {
					return second(r.Discard(ctx, e.Tenant, d.ID, operator, ""))
				}
				return second(r.Delivery(ctx, e.Tenant, d.ID, replay.Request{By: operator}))
			})
		}
	}
}

// hasNumber reports whether the delivery is ordered.
func (w *simulation) hasNumber(d hook.DeliveryRef) bool {
	i, known := w.byID[d.Event]
	return known && w.posted[i].Numbers[d.Endpoint] > 0 || !known && w.promised(d)
}

// promised reports whether a poster took the turn for an event that it stores next. A process that is
// about to send the task of the head again may send it before. That task is dropped.
func (w *simulation) promised(d hook.DeliveryRef) bool {
	for _, s := range w.sequences {
		if s.Member == d {
			return true
		}
	}
	return false
}

// turnOf returns when the turn of the delivery began; zero if it has none.
func (w *simulation) turnOf(d hook.DeliveryRef) time.Time {
	i, known := w.byID[d.Event]
	if !known || w.posted[i].Numbers[d.Endpoint] == 0 {
		return time.Time{}
	}
	e := w.posted[i]
	turn := cmp.Or(w.records[d].Turn(), e.Numbers[d.Endpoint])
	return w.sequenceOf(order.ID{Endpoint: d.Endpoint, Key: e.OrderingKey}).turns[turn]
}

// newest returns the newest generation that has a record.
func (w *simulation) newest(ref hook.DeliveryRef) (d hook.Delivery, ok bool) {
	for {
		next, found := w.records[ref]
		if !found {
			return d, ok
		}
		if d, ok = next, true; d.Replayed.Generation == 0 {
			return d, true
		}
		ref = ref.Successor()
	}
}

// sawNumbers checks the numbers of a new event: nobody else has them, they are above those of all events
// that were accepted before its post, and a request numbers its events in their order.
func (w *simulation) sawNumbers(p *process, e hook.Event) {
	for endpoint, n := range e.Numbers {
		if w.lapses(endpoint) {
			continue
		}
		id := order.ID{Endpoint: endpoint, Key: e.OrderingKey}
		s := w.sequenceOf(id)
		if other, taken := s.events[n]; taken || n < 1 || n > s.Last {
			w.fail(checkNumbers, "%s stores %s with number %d of %v, which goes to %d and gave that to %q", p.name, e.ID, n, id, s.Last, other)
		}
		if n < s.Head {
			w.fail(checkTurn, "%s stores %s with number %d of %v, which has come to %d", p.name, e.ID, n, id, s.Head)
		}
		for m, other := range s.events {
			if m > n && w.acceptedAt[other].Before(p.started) && w.accepted[other] {
				w.fail(checkNumbers, "%s numbers %s with %d of %v, and %s, accepted before its start, has %d", p.name, e.ID, n, id, other, m)
			}
		}
		s.events[n] = e.ID
	}
}

// sawSequence checks a write of the record of a sequence, which only goes forward.
func (w *simulation) sawSequence(p *process, id order.ID) error {
	next, err := w.store.Sequence(w.ctx, "", id)
	s := w.sequenceOf(id)
	if old := s.Sequence; err == nil && (next.Version != old.Version+1 || next.Last < old.Last || next.Head < max(old.Head, 1) || next.Head > next.Last+1) {
		w.fail(checkNumbers, "%s writes %+v over %+v", p.name, next, old)
	}
	for n := s.Head; n < next.Head; n++ {
		event, stored := s.events[n]
		if stored && !w.isOver(s, id, n) { // a letter is looked for now
			w.fail(checkTurn, "%s passes %s, number %d of %v, which is %s", p.name, event, n, id, w.stateOf(event, id.Endpoint))
		}
		if d := w.placed(id, n); !stored && d.Place > 0 && !d.State.Settled() && w.now.Before(d.ClosesAt()) {
			w.fail(checkTurn, "%s passes %s, in place %d of %v, which is %s", p.name, d.ID, n, id, d.State)
		}
	}
	s.Sequence = next
	s.turns[next.Head] = next.TurnAt
	return err
}

// placed returns the newest recorded delivery in the place; zero for none.
func (w *simulation) placed(id order.ID, n int64) hook.Delivery {
	for _, ref := range w.recorded {
		d := w.records[ref]
		if _, replayed := w.records[d.Successor()]; d.Place == n && order.IDOf(d) == id && !replayed {
			return d
		}
	}
	return hook.Delivery{}
}

// sawEnd notes that a delivery is over for its sequence.
func (w *simulation) sawEnd(d hook.Delivery) {
	if d.Number == 0 {
		return
	}
	s := w.sequenceOf(order.IDOf(d))
	if d.Replayed.Generation != 0 && s.Head == d.Turn() { // its replay has the turn
		delete(s.delivered, d.Number)
	}
	if !d.State.Settled() || d.Replayed.Generation != 0 {
		return
	}
	if d.State == hook.StateDelivered && d.Place == 0 && !s.over[d.Number] {
		s.delivered[d.Number] = true
	}
	if d.State != hook.StateDead {
		s.over[d.Number] = true
	}
}

// sawDead notes a dead delivery that is over before it is written again, as by a replay.
func (w *simulation) sawDead(d hook.Delivery) {
	if d.State == hook.StateDead && d.Number > 0 && d.Replayed.Generation == 0 {
		id := order.IDOf(d)
		w.isOver(w.sequenceOf(id), id, d.Number)
	}
}

// isOver reports whether the delivery of an event was over before.
func (w *simulation) isOver(s *sequence, id order.ID, n int64) bool {
	e, status := w.posted[w.byID[s.events[n]]], w.statuses[id.Endpoint]
	if s.over[n] || e.Numbers[id.Endpoint] != n { // posted again after its retention
		return true
	}
	ref, _ := e.Ref(id.Endpoint, 1)
	d, _ := w.newest(ref)
	since := w.now // the letter may come before the record of the death
	if d.State == hook.StateDead {
		since = w.settled[d.Ref()]
	}
	skips := slices.ContainsFunc(status.known(since), func(e setting) bool { return !e.Ordered || e.OnFailure == hook.OnFailureSkip })
	s.over[n] = !status.deleted.IsZero() || !w.now.Before(hook.QueuedDelivery(e, hook.Target{Endpoint: id.Endpoint}).ClosesAt()) || w.reached(s, id, n) ||
		skips && (d.State == hook.StateDead || slices.ContainsFunc(w.deadLetters.Letters(), func(l hook.DeadLetter) bool { return l.Delivery.Event == e.ID && l.Delivery.Endpoint == id.Endpoint }))
	return s.over[n]
}

// checkTurn: an attempt of a delivery begins only after all before it in its sequence are over.
func (w *simulation) checkTurn(p *process, r send.Request, of attempt) {
	i, known := w.byID[of.Event]
	if !known || w.posted[i].Numbers[of.Endpoint] == 0 {
		if r.Event.Ordering != nil {
			w.fail(checkTurn, "%s: the request of %s, which is not ordered, says %+v", p.name, of.DeliveryID, *r.Event.Ordering)
		}
		return
	}
	e := w.posted[i]
	id, n := order.ID{Endpoint: of.Endpoint, Key: e.OrderingKey}, e.Numbers[of.Endpoint]
	s := w.sequenceOf(id)
	for m := range n {
		event, stored := s.events[m]
		switch {
		case !stored:
			continue
		case !w.isOver(s, id, m):
			w.fail(checkTurn, "%s: attempt of %s, number %d of %v, and %s, number %d, is %s", p.name, of.DeliveryID, n, id, event, m, w.stateOf(event, of.Endpoint))
			return
		}
		w.count(waited)
	}
	o := r.Event.Ordering
	if r.Endpoint.Coalesce.On() { // it is ordered no more
		if o != nil {
			w.fail(checkTurn, "%s: the coalesced request of %s says %+v", p.name, of.DeliveryID, *o)
		}
		return
	}
	if o == nil || o.Key != e.OrderingKey || o.Number != n {
		w.fail(checkTurn, "%s: the request of %s, number %d of %v, says %+v", p.name, of.DeliveryID, n, id, o)
		return
	}
	if s.Head != n || p.started.Before(w.moved[of.DeliveryRef]) {
		return // a replay of a passed one, or a second task
	}
	w.checkSkipped(p, s, o, id)
}

// checkSkipped: the request names each number that was not delivered since the last one that was.
func (w *simulation) checkSkipped(p *process, s *sequence, o *hook.Ordering, id order.ID) {
	if len(o.Skipped) > 0 {
		w.count(skipping)
	}
	for n := o.Number - 1; n > 0 && n > o.Number-order.MaxSkipped && !w.reached(s, id, n); n-- {
		if s.events[n] == "" {
			w.count(voids)
		}
		if !slices.Contains(o.Skipped, n) {
			w.fail(checkTurn, "%s: the request of number %d of %v skips %v; %d was not delivered", p.name, o.Number, id, o.Skipped, n)
			return
		}
	}
	for _, n := range o.Skipped {
		if s.delivered[n] {
			w.fail(checkTurn, "%s: the request of number %d of %v skips %v; %d was delivered", p.name, o.Number, id, o.Skipped, n)
		}
	}
}

// checkTended: an accepted post whose delivery waits for its turn passes an empty number that holds up its key for
// longer than its event can come.
func (w *simulation) checkTended(p *process, event hook.EventID) {
	i, known := w.byID[event]
	if !known {
		return
	}
	e := w.posted[i]
	for endpoint, n := range e.Numbers {
		s := w.sequenceOf(order.ID{Endpoint: endpoint, Key: e.OrderingKey})
		if w.isOver(s, s.ID, n) { // such as canceled while it waited
			continue
		}
		if _, stored := s.events[s.Head]; !stored && w.placed(s.ID, s.Head).Place == 0 && s.Head < n && p.started.Sub(s.TurnAt) > order.VoidAfter+2*w.mostSkew() {
			w.fail(checkTurn, "%s accepts %s with number %d of %v behind the empty number %d", p.name, event, n, s.ID, s.Head)
		}
	}
}

// reached reports whether a receiver accepted the delivery of the number, in any generation.
func (w *simulation) reached(s *sequence, id order.ID, n int64) bool {
	i, stored := w.byID[s.events[n]]
	switch {
	case !stored:
		return false
	case w.posted[i].Numbers[id.Endpoint] != n: // posted again after its retention, and its requests are forgotten
		return true
	}
	ref, _ := w.posted[i].Ref(id.Endpoint, 1)
	for {
		if slices.ContainsFunc(w.posts[ref], func(s *post) bool { return s.outcome.Class == hook.ClassDelivered }) {
			return true
		}
		if w.records[ref].Replayed.Generation == 0 {
			return false
		}
		ref = ref.Successor()
	}
}

// ordering returns what the envelope of a request says about the order; checkTurn checks the values.
func (w *simulation) ordering(r send.Request) string {
	o := r.Event.Ordering
	if o == nil {
		return ""
	}
	skipped := ""
	if len(o.Skipped) > 0 {
		skipped = `,"skipped":` + strings.ReplaceAll(fmt.Sprint(o.Skipped), " ", ",")
	}
	return fmt.Sprintf(`,"ordering":{"key":%q,"number":%d%s}`, o.Key, o.Number, skipped)
}

func (w *simulation) stateOf(event hook.EventID, endpoint hook.EndpointID) string {
	ref, _ := w.posted[w.byID[event]].Ref(endpoint, 1)
	d, ok := w.newest(ref)
	if !ok {
		return "without a record"
	}
	return fmt.Sprintf("%s (%s) in generation %d, place %d", d.State, d.Reason, d.ID.Generation, d.Place)
}

// blocked reports whether the delivery waits behind a dead one that blocks its sequence.
func (w *simulation) blocked(e hook.Event, endpoint hook.EndpointID) bool {
	if e.Numbers[endpoint] == 0 {
		return false
	}
	s := w.sequenceOf(order.ID{Endpoint: endpoint, Key: e.OrderingKey})
	status := w.statuses[endpoint]
	if s.Idle() || !status.Ordered || status.OnFailure != hook.OnFailureBlock || !status.deleted.IsZero() {
		return false
	}
	for _, other := range w.posted {
		ref, target := other.Ref(endpoint, 1)
		if d, ok := w.newest(ref); target && ok && other.OrderingKey == e.OrderingKey && d.Turn() == s.Head && d.State == hook.StateDead {
			w.count(blocking)
			return true
		}
	}
	return false
}

// orderIDOf returns the sequence of an item's key.
func orderIDOf(hash string) order.ID {
	endpoint, key, _ := strings.Cut(strings.TrimPrefix(hash, "order#"), "#")
	return order.ID{Endpoint: hook.EndpointID(endpoint), Key: key}
}
