package settle

import (
	"context"
	"time"

	"surehook.example/surehook/internal/delivery/parallel"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/order"
	"surehook.example/surehook/internal/store"
)

// Orders gives ordered deliveries their places, and sends the task of the one whose turn it is.
//
// A poster stores the place of a delivery, then the event, and then reads the head. Who moves the head on
// writes it, and then looks for the place and the event. So one of the two sees the other, and sends the
// task. If both do, the delivery has two tasks.
//
// A sequence moves on in two steps: the write of the new head, and the head's task. After a crash
// between them the message of the delivery that ended comes again, finds its number in the sequence, and
// sends the task. The sweep finds whatever else is lost: it looks after each sequence in which a delivery has
// waited for some minutes. A post behind a head that had its turn for long passes what ended or is void, too.
type Orders struct {
	Store OrderStore
	Queue TaskQueue
	Now   func() time.Time
	Wait  store.Wait // between two tries of a write; nil: by the real clock
}

func (o Orders) sequences(tenant hook.TenantID) store.Table[order.ID, order.Sequence] {
	return store.Table[order.ID, order.Sequence]{
		Name: "the ordering key", Wait: o.Wait,
		Read: func(ctx context.Context, id order.ID) (order.Sequence, error) {
			return o.Store.Sequence(ctx, tenant, id)
		},
		Write: func(ctx context.Context, _ order.ID, _, next order.Sequence) (order.Sequence, error) {
			err := o.Store.SaveSequence(ctx, next)
			next.Version++
			return next, err
		},
	}
}

// maxPlaces limits the places that are stored at the same time.
const maxPlaces = 16

// Give gives the deliveries of a sequence the numbers from the returned one on, and stores their places.
// now: the sequence was idle, so that the first delivery has the turn.
func (o Orders) Give(ctx context.Context, id order.ID, deliveries []hook.Delivery) (from int64, now bool, err error) {
	at := o.Now()
	_, s, err := o.sequences(deliveries[0].Tenant).Update(ctx, id, func(s order.Sequence) (order.Sequence, bool, error) {
		s, from = s.Give(deliveries, at)
		return s, true, nil
	})
	if err != nil {
		return 0, false, err
	}
	for _, err := range parallel.Each(len(deliveries), maxPlaces, func(i int) error {
		d, number := deliveries[i], from+int64(i)
		if number == s.Head {
			return nil
		}
		return o.Store.PutPlace(ctx, id, order.Place{Number: number, Delivery: d.Ref(), Tenant: d.Tenant, GivenAt: at, ExpiresAt: d.ExpiresAt})
	}) {
		if err != nil {
			return 0, false, err
		}
	}
	return from, s.Head == from, nil
}

// Due returns the turns of those of the deliveries of a sequence, with stored events, whose turn came or is
// over: the caller sends their tasks. again: an earlier call may have died, or got its numbers in vain.
func (o Orders) Due(ctx context.Context, id order.ID, deliveries []hook.Delivery, again bool) (due []int64, err error) {
	s, err := o.Store.Sequence(ctx, deliveries[0].Tenant, id)
	if err != nil {
		return nil, err
	}
	for _, d := range deliveries {
		if s.TurnOf(d) != order.Later {
			due = append(due, d.Turn())
		}
	}
	if again || s.Late(o.Now()) {
		err = o.Tend(ctx, deliveries[0].Tenant, id)
	}
	return due, err
}

// Watch lets the sweep look after the sequence of a delivery that waits for its turn, and reports whether that is
// enough for it.
func (o Orders) Watch(ctx context.Context, d hook.Delivery) (waits bool, err error) {
	if d.Turn() == 0 {
		return false, nil
	}
	_, _, err = o.sequences(d.Tenant).Update(ctx, order.IDOf(d), func(s order.Sequence) (order.Sequence, bool, error) {
		waits = s.TurnOf(d) == order.Later && s.Guards(d)
		next := s.Watch(d.CreatedAt)
		return next, waits && next != s, nil
	})
	return waits, err
}

// Look tends the sequence, and sends the task of a head that has had the turn for long, which may be lost.
func (o Orders) Look(ctx context.Context, s order.Sequence) error {
	now := o.Now()
	_, s, err := o.sequences(s.Tenant).Update(ctx, s.ID, func(s order.Sequence) (order.Sequence, bool, error) {
		next := s.Looked(now)
		return next, next != s, nil
	})
	if err != nil {
		return err
	}
	return o.moveOn(ctx, s.Tenant, s.ID, nil, s.Late(now))
}

// AppendDue appends the task of an overdue delivery. If its turn has not come, AppendDue tends the sequence instead,
// until the retention of the delivery ends.
func (o Orders) AppendDue(ctx context.Context, tasks []hook.Task, d hook.Delivery) ([]hook.Task, error) {
	if d.Turn() > 0 && o.Now().Before(d.ClosesAt()) {
		s, err := o.Store.Sequence(ctx, d.Tenant, order.IDOf(d))
		if err != nil {
			return tasks, err
		}
		if s.TurnOf(d) == order.Later {
			return tasks, o.Tend(ctx, d.Tenant, s.ID)
		}
	}
	return append(tasks, d.NextTask()), nil
}

// Join gives a delivery that the sequence moved past a place at the end.
func (o Orders) Join(ctx context.Context, d hook.Delivery) (err error) {
	if d.Place, _, err = o.Give(ctx, order.IDOf(d), []hook.Delivery{d}); err != nil {
		return err
	}
	if d.State == hook.StateParked { // it was released: no breaker has to look after it, but its turn
		d.State, d.Reason, d.NextAttemptAt = hook.StateRetrying, hook.ReasonNone, o.Now()
	}
	switch err = o.Store.SaveDelivery(ctx, d, nil); {
	case hook.CodeOf(err) == hook.CodeConflict: // the number is void, or its record was written and the answer lost
		return o.moveOn(ctx, d.Tenant, order.IDOf(d), nil, true)
	case err != nil:
		return err
	}
	d.Version++
	due, err := o.Due(ctx, order.IDOf(d), []hook.Delivery{d}, false)
	if err == nil && len(due) > 0 {
		err = o.send(ctx, d.NextTask())
	}
	return err
}
