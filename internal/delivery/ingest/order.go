package ingest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"surehook.example/surehook/internal/delivery/parallel"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/order"
)

// ordered returns the ordered targets of an event with an ordering key, which get their numbers later.
func (l *listing) ordered(e *hook.Event) map[hook.EndpointID]int64 {
	if e.OrderingKey == "" {
		return nil
	}
	l.mu.RLock()
	defer l.mu.RUnlock()

	var numbers map[hook.EndpointID]int64
	for _, target := range e.Targets {
		if s := l.endpoints[target.Endpoint]; s != nil && s.Ordered {
			if numbers == nil {
				numbers = make(map[hook.EndpointID]int64)
			}
			numbers[target.Endpoint] = 0
		}
	}
	return numbers
}

func (a *Acceptor) orders() settle.Orders {
	return settle.Orders{Store: a.Store, Queue: a.Queue, Now: a.Now, Wait: a.Wait}
}

// giveNumbers gives the ordered deliveries of new events their places, in the order of the batch: one write
// for each ordering key and endpoint, and one for each delivery that waits. An event that is stored keeps
// its numbers, so a repeated post takes none. If the process dies before it stores an event, its numbers
// are void.
func (a *Acceptor) giveNumbers(ctx context.Context, events [][]*post) {
	var fresh []*post
	for _, same := range events {
		i := slices.IndexFunc(same, func(p *post) bool { return p.refusal == nil })
		if i >= 0 && same[i].event.Numbers != nil {
			fresh = append(fresh, same[i])
		}
	}
	parallel.Each(len(fresh), concurrentWrites, func(i int) error {
		p := fresh[i]
		if p.event.IdempotencyKey == "" {
			return nil
		}
		stored, err := a.Store.Event(ctx, p.event.ID)
		switch {
		case err == nil && !stored.Expired(p.event.AcceptedAt):
			p.event.Numbers = nil
		case err != nil && hook.CodeOf(err) != hook.CodeNotFound:
			p.err = fmt.Errorf("read event %s: %w", p.event.ID, err)
		}
		return nil // each post holds its own error
	})
	groups := bySequence(fresh)
	parallel.Each(len(groups), concurrentWrites, func(i int) error {
		g := groups[i]
		g.first, g.turn, g.err = a.orders().Give(ctx, g.id, g.deliveries)
		return nil // kept
	})
	for _, g := range groups {
		for k, p := range g.posts {
			if g.err != nil {
				p.err = fmt.Errorf("number event %s: %w", p.event.ID, g.err)
				continue
			}
			p.event.Numbers[g.id.Endpoint] = g.first + int64(k)
			if g.turn && k == 0 {
				p.turns = append(p.turns, g.id.Endpoint)
			}
		}
	}
}

// numbered are the new deliveries of a sequence.
type numbered struct {
	id         order.ID
	posts      []*post
	deliveries []hook.Delivery

	first int64
	turn  bool // of the first delivery
	err   error
}

// bySequence returns the ordered deliveries of the valid posts by sequence, in the order of the posts.
func bySequence(posts []*post) (groups []*numbered) {
	known := make(map[order.ID]*numbered)
	for _, p := range posts {
		for _, target := range p.event.Targets {
			if _, ordered := p.event.Numbers[target.Endpoint]; !ordered || p.err != nil {
				continue
			}
			id := order.ID{Endpoint: target.Endpoint, Key: p.event.OrderingKey}
			if known[id] == nil {
				known[id] = &numbered{id: id}
				groups = append(groups, known[id])
			}
			known[id].posts = append(known[id].posts, p)
			known[id].deliveries = append(known[id].deliveries, hook.QueuedDelivery(p.event, target))
		}
	}
	return groups
}

// waiting are ordered deliveries of one sequence that do not have the turn, as far as their posts know.
type waiting struct {
	deliveries []hook.Delivery
	owners     []*post
}

// sendDue adds the tasks of the deliveries whose turn it is by now.
func (a *Acceptor) sendDue(ctx context.Context, all map[order.ID]*waiting, to arrival, again bool, sendings []sending) []sending {
	byID := func(a, b order.ID) int {
		return cmp.Or(cmp.Compare(a.Endpoint, b.Endpoint), cmp.Compare(a.Key, b.Key))
	}
	for _, id := range slices.SortedFunc(maps.Keys(all), byID) { // the simulator's runs repeat themselves
		w := all[id]
		due, err := a.orders().Due(ctx, id, w.deliveries, again)
		for i, p := range w.owners {
			switch d := w.deliveries[i]; {
			case err != nil:
				p.err = cmp.Or(p.err, fmt.Errorf("await the turn of %s: %w", d.ID, err))
			case slices.Contains(due, d.Turn()):
				sendings = to.add(sendings, d.NextTask(), p)
			}
		}
	}
	return sendings
}
