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

// Head returns the newest generation of the delivery at the head of the sequence; nil if it is not known.
func Head(ctx context.Context, r HeadReader, s order.Sequence) (*hook.Delivery, error) {
	ref := s.Member
	if ref == (hook.DeliveryRef{}) {
		place, err := r.NextPlace(ctx, s.ID, s.Head, s.Head)
		if err != nil || place == nil {
			return nil, err
		}
		ref = place.Delivery
	}
	for {
		d, err := r.Delivery(ctx, ref)
		switch {
		case hook.CodeOf(err) == hook.CodeNotFound:
			return new(hook.Delivery{Tenant: s.Tenant, State: hook.StateQueued}.At(ref)), nil
		case err != nil:
			return nil, err
		case d.Replayed.Generation == 0:
			return &d, nil
		}
		ref = ref.Successor()
	}
}
