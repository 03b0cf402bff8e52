package admit

import (
	"context"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/store"
)

// leavePlaces gives back places of the tenant in the lane slot. If the process dies first, they
// expire.
func (g *Gate) leavePlaces(ctx context.Context, tenant hook.TenantID, held ...admission.Held) error {
	if len(held) == 0 {
		return nil
	}
	places := store.Table[hook.TenantID, admission.Limits]{
		Name: "the tenant's places", Wait: g.Wait, Read: g.Store.Places,
		Write: func(ctx context.Context, tenant hook.TenantID, before, next admission.Limits) (admission.Limits, error) {
			return next, g.Store.ChangePlaces(ctx, tenant, before, next, g.Places)
		},
	}
	_, _, err := places.Update(ctx, tenant, func(before admission.Limits) (admission.Limits, bool, error) { return before.End(held...), true, nil })
	return err
}
