package ingest

import (
	"cmp"
	"context"
	"fmt"
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
	given := sequences{byID: make(map[order.ID]*numbered)}
	for _, p := range fresh {
		for _, target := range p.event.Targets {
			if _, ordered := p.event.Numbers[target.Endpoint]; ordered && p.err == nil {
				given.add(order.ID{Endpoint: target.Endpoint, Key: p.event.OrderingKey}, p, hook.QueuedDelivery(p.event, target))
			}
		}
	}
	parallel.Each(len(given.all), concurrentWrites, func(i int) error {
		n := given.all[i]
		n.first, n.turn, n.err = a.orders().Give(ctx, n.id, n.deliveries)
		return nil // kept
	})
	for _, n := range given.all {
		for k, p := range n.posts {
			if n.err != nil {
				p.err = fmt.Errorf("number event %s: %w", p.event.ID, n.err)
				continue
			}
			p.event.Numbers[n.id.Endpoint] = n.first + int64(k)
			if n.turn && k == 0 {
				p.turns = append(p.turns, n.id.Endpoint)
			}
		}
	}
}

// sequences are deliveries of posts by sequence, in the order in which they were added.
type sequences struct {
	all  []*numbered
	byID map[order.ID]*numbered
}

// numbered are deliveries of one sequence.
type numbered struct {
	id         order.ID
	posts      []*post
	deliveries []hook.Delivery

	first int64
	turn  bool // of the first delivery
	err   error
}

func (s *sequences) add(id order.ID, p *post, d hook.Delivery) {
	n := s.byID[id]
	if n == nil {
		n = &numbered{id: id}
		s.all, s.byID[id] = append(s.all, n), n
	}
	n.posts, n.deliveries = append(n.posts, p), append(n.deliveries, d)
}

// sendDue adds the tasks of those of the deliveries whose turn it is by now.
func (a *Acceptor) sendDue(ctx context.Context, behind sequences, to arrival, again bool, sendings []sending) []sending {
	for _, n := range behind.all {
		due, err := a.orders().Due(ctx, n.id, n.deliveries, again)
		for i, p := range n.posts {
			switch d := n.deliveries[i]; {
			case err != nil:
				p.err = cmp.Or(p.err, fmt.Errorf("await the turn of %s: %w", d.ID, err))
			case slices.Contains(due, d.Turn()):
				sendings = to.add(sendings, d.NextTask(), p)
			}
		}
	}
	return sendings
}
