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
	var previous *hook.Delivery
	if before, replay := ref.Predecessor(); replay {
		old, err := s.Delivery(ctx, before)
		switch {
		case err == nil:
			previous = &old
		case hook.CodeOf(err) != hook.CodeNotFound:
			return hook.Delivery{}, err
		}
	}
	d, ok := e.Unrecorded(ref, previous)
	if !ok {
		return hook.Delivery{}, hook.NotFound("delivery")
	}
	return d, nil
}
