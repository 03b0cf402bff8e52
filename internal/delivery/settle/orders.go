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
// A sequence moves on in two steps: the write of the new head, and the head's task. After a crash
// between them the message of the delivery that ended comes again, finds its number in the sequence, and
// sends the task. Whatever else is lost, Tend finds: a post behind a head that had its turn for long, and
// the sweep of a delivery that waits, tend the sequence.
//
// A poster stores the place of a delivery and then reads the head; who moves the head writes it, and then
// looks for the place. So one of the two sees the other, and sends the task.
type Orders struct {
	Store OrderStore
	Queue TaskQueue
	Now   func() time.Time
	Wait  store.Wait // between two tries of a write; nil: by the real clock
}

// maxPlaces limits the places that are stored at the same time.
const maxPlaces = 16

// Give gives out n numbers, and returns the first one, with the sequence as stored. first gets the turn
// if the sequence is idle.
func (o Orders) Give(ctx context.Context, tenant hook.TenantID, id order.ID, n int, first hook.DeliveryRef) (from int64, after order.Sequence, err error) {
	sequences := store.Table[order.ID, order.Sequence]{
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
	_, after, err = sequences.Update(ctx, id, func(s order.Sequence) (order.Sequence, bool, error) {
		s, from = s.Give(n, first, o.Now())
		return s, true, nil
	})
	return from, after, err
}

// Await stores the places of deliveries that are not at the head of the sequence, and returns those whose
// task the caller must send: their turn came meanwhile, and nobody else knows them. again: an earlier
// call may have died before it sent the task of the head.
func (o Orders) Await(ctx context.Context, tenant hook.TenantID, id order.ID, places []order.Place, again bool) (due []order.Place, err error) {
	for _, err := range parallel.Each(len(places), maxPlaces, func(i int) error { return o.Store.PutPlace(ctx, id, places[i]) }) {
		if err != nil {
			return nil, err
		}
	}
	s, err := o.Store.Sequence(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	for _, p := range places {
		if p.Number < s.Head || p.Number == s.Head && (again || !s.Has(p.Delivery)) {
			due = append(due, p)
		}
	}
	if s.Late(o.Now()) {
		err = o.Tend(ctx, tenant, id)
	}
	return due, err
}

// TendFor looks after a delivery whose turn has not come. In the place of a process that died, it stores
// the place of the delivery.
func (o Orders) TendFor(ctx context.Context, d hook.Delivery) error {
	return o.await(ctx, d, d.Turn())
}

// AppendDue appends the task of an overdue delivery. If its turn has not come, AppendDue looks after it instead,
// until its retention ends.
func (o Orders) AppendDue(ctx context.Context, tasks []hook.Task, d hook.Delivery) ([]hook.Task, error) {
	if d.Turn() > 0 && o.Now().Before(d.ClosesAt()) {
		s, err := o.Store.Sequence(ctx, d.Tenant, order.IDOf(d))
		if err != nil {
			return tasks, err
		}
		if s.TurnOf(d) == order.Later {
			return tasks, o.TendFor(ctx, d)
		}
	}
	return append(tasks, d.NextTask()), nil
}

// Join gives a delivery that the sequence moved past a place at the end.
func (o Orders) Join(ctx context.Context, d hook.Delivery) error {
	number, s, err := o.Give(ctx, d.Tenant, order.IDOf(d), 1, d.Ref())
	if err != nil {
		return err
	}
	if s.Head == number {
		return o.send(ctx, d.NextTask())
	}
	if err = o.await(ctx, d, number); err != nil {
		return err
	}
	d.Place = number                 // without this record, each further task of the delivery would give it a further place
	if d.State == hook.StateParked { // it was released: no breaker has to look after it, but its turn
		d.State, d.Reason, d.NextAttemptAt = hook.StateRetrying, hook.ReasonNone, o.Now()
	}
	if err = o.Store.SaveDelivery(ctx, d, nil); hook.CodeOf(err) == hook.CodeConflict {
		return nil
	}
	return err
}

// await is Await for one delivery, whose task it sends.
func (o Orders) await(ctx context.Context, d hook.Delivery, number int64) error {
	place := order.Place{Number: number, Delivery: d.Ref(), Tenant: d.Tenant, GivenAt: o.Now(), ExpiresAt: d.ExpiresAt}
	due, err := o.Await(ctx, d.Tenant, order.IDOf(d), []order.Place{place}, false)
	if err == nil && len(due) > 0 {
		err = o.send(ctx, d.NextTask())
	}
	return err
}
