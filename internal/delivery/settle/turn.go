package settle

import (
	"context"
	"fmt"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/order"
	"surehook.example/surehook/internal/store"
)

// Ended moves the sequence of a delivery on, as recorded, if that is its head and settled. The end of a
// replayed delivery moves nothing: its replay is the head.
func (o Orders) Ended(ctx context.Context, d hook.Delivery) error {
	if d.Turn() == 0 || d.Replayed.Generation != 0 || !d.State.Settled() {
		return nil
	}
	return o.moveOn(ctx, d.Tenant, order.IDOf(d), &d, false)
}

// Tend moves the sequence on if nobody else does: its head ended, or never was.
func (o Orders) Tend(ctx context.Context, tenant hook.TenantID, id order.ID) error {
	return o.moveOn(ctx, tenant, id, nil, false)
}

// moveOn moves the sequence past all deliveries at its head that ended, and sends the task of the new
// head; with again even if the head is as before. ended is the delivery that ended just now; nil: any one.
func (o Orders) moveOn(ctx context.Context, tenant hook.TenantID, id order.ID, ended *hook.Delivery, again bool) error {
	err := store.Repeat(ctx, o.Wait, store.Tries, func() error {
		s, err := o.Store.Sequence(ctx, tenant, id)
		if err != nil || s.Version == 0 {
			return err
		}
		var by int64
		if ended != nil {
			by = ended.Turn()
			if s.MovedBy != by && s.TurnOf(*ended) != order.Now {
				return nil
			}
		}
		send := again || ended != nil && s.MovedBy == by // after a crash: perhaps the task of the head is missing
		for moved := false; !s.Idle(); moved = true {
			d, over, err := o.head(ctx, s, ended)
			switch {
			case err != nil:
				return err
			case over:
			case d != nil && (moved || send) && o.lacksTask(d, moved):
				return o.send(ctx, d.NextTask())
			default:
				return nil
			}
			s = s.Advance(d, by, o.Now())
			if err := o.Store.SaveSequence(ctx, s); err != nil {
				return err
			}
			s.Version++
		}
		return nil
	})
	return store.Busy(err, "ordering key "+id.Key)
}

// lacksTask reports whether the head may have no task: nobody sends one before its turn, and a retry that is due may have
// lost it.
func (o Orders) lacksTask(d *hook.Delivery, moved bool) bool {
	return d.State == hook.StateQueued || d.State == hook.StateRetrying && (moved || !d.NextAttemptAt.After(o.Now()))
}

// head returns the newest generation of the delivery at the head; nil if its event is not stored. over: the
// sequence moves on from it.
func (o Orders) head(ctx context.Context, s order.Sequence, ended *hook.Delivery) (d *hook.Delivery, over bool, err error) {
	if ended != nil && s.TurnOf(*ended) == order.Now && ended.State != hook.StateDead { // a dead one may be replayed by now
		over, err = o.over(ctx, ended)
		return ended, over, err
	}
	d, first, err := Head(ctx, o.Store, s)
	if err == nil && d != nil && d.Version == 0 {
		d, err = o.queued(ctx, d.Ref())
	}
	switch {
	case hook.CodeOf(err) == hook.CodeConflict:
		return nil, true, nil
	case err != nil:
		return nil, false, err
	case d == nil:
		return nil, s.Void(first, o.Now()), nil
	case d.Number > 0 && d.Turn() != s.Head: // it has another place
		return nil, true, nil
	}
	over, err = o.over(ctx, d)
	return d, over, err
}

// queued returns a delivery without a record; nil if its event is not stored. CodeConflict: nor can it be,
// because another event has its id.
func (o Orders) queued(ctx context.Context, ref hook.DeliveryRef) (*hook.Delivery, error) {
	e, err := o.Store.Event(ctx, ref.Event)
	switch {
	case hook.CodeOf(err) == hook.CodeNotFound,
		err == nil && e.Expired(time.UnixMilli(ref.AcceptedAt)): // its own event takes the place of this one
		return nil, nil //nolint:nilnil // there is none
	case err != nil:
		return nil, err
	}
	d, err := Queued(ctx, o.Store, e, ref)
	if hook.CodeOf(err) == hook.CodeNotFound {
		err = hook.Conflict("another event has the id of " + ref.String())
	}
	return &d, err
}

// over reports whether the sequence moves on from the head.
func (o Orders) over(ctx context.Context, d *hook.Delivery) (bool, error) {
	if d.State != hook.StateDead {
		return order.Over(*d, true, o.Now()), nil
	}
	e, err := o.Store.Endpoint(ctx, d.Tenant, d.ID.Endpoint)
	if err != nil && hook.CodeOf(err) != hook.CodeNotFound {
		return false, err
	}
	return order.Over(*d, err == nil && e.Ordered && e.OnFailure == hook.OnFailureBlock, o.Now()), nil
}

func (o Orders) send(ctx context.Context, t hook.Task) error {
	if errs := o.Queue.Send(ctx, hook.QueueLive, []hook.Task{t}, 0); errs != nil {
		return fmt.Errorf("send task of %s, whose turn it is: %w", t.Delivery, errs[0])
	}
	return nil
}
