package admit

import (
	"context"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/store"
)

// leaveShares gives back shares of the tenant in the queue slot. If the process dies first, they
// expire.
func (g *Gate) leaveShares(ctx context.Context, tenant hook.TenantID, held ...admission.Held) error {
	if len(held) == 0 {
		return nil
	}
	shares := store.Table[hook.TenantID, admission.Limits]{
		Name: "the tenant's shares", Wait: g.Wait, Read: g.Store.Shares,
		Write: func(ctx context.Context, tenant hook.TenantID, before, next admission.Limits) (admission.Limits, error) {
			return next, g.Store.ChangeShares(ctx, tenant, before, next)
		},
	}
	_, _, err := shares.Update(ctx, tenant, func(before admission.Limits) (admission.Limits, bool, error) { return before.End(held...), true, nil })
	return err
}
