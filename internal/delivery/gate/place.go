package gate

import (
	"context"
	"fmt"
	"time"

	"surehook.example/surehook/internal/conflict"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

// Leave gives back the place of a token in the lane slot that ended without asking the gate, so
// that no Settle gives it back. Without a place it does nothing.
func (g *Gate) Leave(ctx context.Context, tenant hook.TenantID, due admission.Due) error {
	return g.leavePlaces(ctx, tenant, due.Delivery.Endpoint, due.Place(time.Time{}))
}

// leavePlaces gives back places of tokens of an endpoint. If the process dies first, they
// expire.
func (g *Gate) leavePlaces(ctx context.Context, tenant hook.TenantID, id hook.EndpointID, places ...admission.Held) error {
	if len(places) == 0 {
		return nil
	}
	return contentionOf(conflict.Repeat(ctx, g.Wait, maxSaveAttempts, func() error {
		before, err := g.placesOf(ctx, tenant)
		if err != nil {
			return err
		}
		if err := g.Store.ChangePlaces(ctx, tenant, *before, before.End(places...), g.Places); err != nil {
			return fmt.Errorf("change places of tenant %s: %w", tenant, err)
		}
		return nil
	}), id)
}
