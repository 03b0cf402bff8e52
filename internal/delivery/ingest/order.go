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
	var given []numbered
	for _, p := range fresh {
		for _, target := range p.event.Targets {
			if _, ordered := p.event.Numbers[target.Endpoint]; ordered && p.err == nil {
				given = append(given, numbered{p, hook.QueuedDelivery(p.event, target)})
			}
		}
	}
	sequences := parallel.Groups(given, numbered.sequence)
	first, turn, errs := make([]int64, len(sequences)), make([]bool, len(sequences)), make([]error, len(sequences))
	parallel.Each(len(sequences), concurrentWrites, func(i int) error {
		first[i], turn[i], errs[i] = a.orders().Give(ctx, sequences[i][0].sequence(), deliveries(sequences[i]))
		return nil // kept
	})
	for i, sequence := range sequences {
		for k, n := range sequence {
			p, endpoint := n.post, n.delivery.ID.Endpoint
			if errs[i] != nil {
				p.err = fmt.Errorf("number event %s: %w", p.event.ID, errs[i])
				continue
			}
			p.event.Numbers[endpoint] = first[i] + int64(k)
			if turn[i] && k == 0 {
				p.turns = append(p.turns, endpoint)
			}
		}
	}
}

// numbered is an ordered delivery of a post.
type numbered struct {
	post     *post
	delivery hook.Delivery
}

func (n numbered) sequence() order.ID {
	return order.ID{Endpoint: n.delivery.ID.Endpoint, Key: n.post.event.OrderingKey}
}

func deliveries(all []numbered) []hook.Delivery {
	list := make([]hook.Delivery, len(all))
	for i, n := range all {
		list[i] = n.delivery
	}
	return list
}

// due returns the tasks of those of the deliveries whose turn it is by now.
func (a *Acceptor) due(ctx context.Context, behind []numbered, to arrival, again bool) (sendings []sending) {
	for _, sequence := range parallel.Groups(behind, numbered.sequence) {
		due, err := a.orders().Due(ctx, sequence[0].sequence(), deliveries(sequence), again)
		for _, n := range sequence {
			switch d := n.delivery; {
			case err != nil:
				n.post.err = cmp.Or(n.post.err, fmt.Errorf("await the turn of %s: %w", d.ID, err))
			case slices.Contains(due, d.Turn()):
				sendings = append(sendings, sending{to, d.NextTask(), n.post})
			}
		}
	}
	return sendings
}
