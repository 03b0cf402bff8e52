package settle

import (
	"context"
	"fmt"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/order"
	"surehook.example/surehook/internal/store"
)

// Ended moves the sequence of a settled delivery on, if that is its head. The end of a replayed delivery
// moves nothing: its replay is the head.
func (o Orders) Ended(ctx context.Context, d hook.Delivery) error {
	if d.Turn() == 0 || d.Replayed.Generation != 0 {
		return nil
	}
	return o.moveOn(ctx, d.Tenant, order.IDOf(d), &d)
}

// Tend moves the sequence on if nobody else does: its head ended, or never was.
func (o Orders) Tend(ctx context.Context, tenant hook.TenantID, id order.ID) error {
	return o.moveOn(ctx, tenant, id, nil)
}

// moveOn moves the sequence past all deliveries at its head that ended, and sends the task of the new
// head. ended is the delivery that ended just now, whose record may not be written yet; nil: any one.
func (o Orders) moveOn(ctx context.Context, tenant hook.TenantID, id order.ID, ended *hook.Delivery) error {
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
		again := ended != nil && s.MovedBy == by // after a crash: perhaps the task of the head is missing
		for moved := false; !s.Idle(); moved = true {
			d, err := o.head(ctx, s, ended)
			if err != nil {
				return err
			}
			over, err := o.over(ctx, s, d)
			switch {
			case err != nil:
				return err
			case over:
			case d != nil && (d.State == hook.StateQueued && (moved || again) || d.State == hook.StateRetrying && moved):
				return o.send(ctx, d.NextTask())
			default:
				return nil
			}
			if s, err = o.advance(ctx, s, d, by); err != nil {
				return err
			}
		}
		return nil
	})
	return store.Busy(err, "ordering key "+id.Key)
}

// head returns the newest generation of the delivery at the head; nil if it is not known.
func (o Orders) head(ctx context.Context, s order.Sequence, ended *hook.Delivery) (*hook.Delivery, error) {
	if ended != nil && s.TurnOf(*ended) == order.Now {
		return ended, nil
	}
	return Head(ctx, o.Store, s)
}

// over reports whether the sequence moves on from the head.
func (o Orders) over(ctx context.Context, s order.Sequence, d *hook.Delivery) (bool, error) {
	switch {
	case d == nil:
		return s.Late(o.Now()), nil
	case d.State == hook.StateDead:
		e, err := o.Store.Endpoint(ctx, d.Tenant, d.ID.Endpoint)
		if err != nil && hook.CodeOf(err) != hook.CodeNotFound {
			return false, err
		}
		return order.Over(*d, err == nil && e.Ordered && e.OnFailure == hook.OnFailureBlock), nil
	case d.State == hook.StateQueued && d.Version == 0 && s.Late(o.Now()):
		e, err := o.Store.Event(ctx, d.ID.Event)
		if hook.CodeOf(err) == hook.CodeNotFound {
			return true, nil
		}
		return err == nil && (e.AcceptedAt.UnixMilli() != d.AcceptedAt || e.Expired(o.Now())), err
	}
	return order.Over(*d, true), nil
}

// advance writes the sequence with the next head.
func (o Orders) advance(ctx context.Context, s order.Sequence, d *hook.Delivery, by int64) (next order.Sequence, err error) {
	var waiting *order.Place
	if s.Head < s.Last {
		if waiting, err = o.Store.NextPlace(ctx, s.ID, s.Head+1, s.Last); err != nil {
			return s, err
		}
	}
	s = s.Advance(d, by, waiting, o.Now())
	err = o.Store.SaveSequence(ctx, s)
	s.Version++
	return s, err
}

func (o Orders) send(ctx context.Context, t hook.Task) error {
	if errs := o.Queue.Send(ctx, hook.QueueLive, []hook.Task{t}, 0); errs != nil {
		return fmt.Errorf("send task of %s, whose turn it is: %w", t.Delivery, errs[0])
	}
	return nil
}
