package settle

import (
	"context"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/order"
)

// HeadReader reads the heads of sequences. The methods are those of the other ports.
type HeadReader interface {
	Sequence(ctx context.Context, tenant hook.TenantID, id order.ID) (order.Sequence, error)
	NextPlace(ctx context.Context, id order.ID, from, to int64) (*order.Place, error)
	Delivery(ctx context.Context, ref hook.DeliveryRef) (hook.Delivery, error)
}

// Head returns the newest generation of the delivery at the head of the sequence, with Version 0 if it has no
// record; nil if it has no place. first is the first place from the head on, if any.
func Head(ctx context.Context, r HeadReader, s order.Sequence) (d *hook.Delivery, first *order.Place, err error) {
	ref := s.Member
	if ref == (hook.DeliveryRef{}) {
		if first, err = r.NextPlace(ctx, s.ID, s.Head, s.Last); err != nil || first == nil || first.Number > s.Head {
			return nil, first, err
		}
		ref = first.Delivery
	}
	for ; ; ref = ref.Successor() {
		found, err := r.Delivery(ctx, ref)
		switch {
		case hook.CodeOf(err) == hook.CodeNotFound:
			return new(hook.Delivery{Tenant: s.Tenant, State: hook.StateQueued}.At(ref)), first, nil
		case err != nil:
			return nil, first, err
		case found.Replayed.Generation == 0:
			return &found, first, nil
		}
	}
}
