package settle

import (
	"context"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/store"
)

// Deliveries are the records of deliveries.
func Deliveries(s DeliveryStore, wait store.Wait) store.Table[hook.DeliveryRef, hook.Delivery] {
	return store.Table[hook.DeliveryRef, hook.Delivery]{
		Name: "the delivery", Wait: wait, Read: s.Delivery,
		Write: func(ctx context.Context, _ hook.DeliveryRef, _, next hook.Delivery) (hook.Delivery, error) {
			err := s.SaveDelivery(ctx, next, nil)
			next.Version++
			return next, err
		},
	}
}

// Queued returns a delivery without a record as it is, queued. CodeNotFound if neither the event nor
// the record of the previous generation names it.
func Queued(ctx context.Context, s DeliveryStore, e hook.Event, ref hook.DeliveryRef) (hook.Delivery, error) {
	own, target := e.Ref(ref.Endpoint, ref.Generation)
	if !target || own != ref {
		return hook.Delivery{}, hook.NotFound("delivery")
	}
	before, replay := ref.Predecessor()
	if !replay {
		return hook.QueuedDelivery(e, hook.Target{Endpoint: ref.Endpoint}).At(ref), nil
	}
	old, err := s.Delivery(ctx, before)
	switch {
	case err != nil && hook.CodeOf(err) != hook.CodeNotFound:
		return hook.Delivery{}, err
	case err != nil || old.Replayed.Generation != ref.Generation:
		return hook.Delivery{}, hook.NotFound("delivery")
	}
	return hook.QueuedReplay(e, old), nil
}
