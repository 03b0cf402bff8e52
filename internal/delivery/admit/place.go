package admit

import (
	"context"
	"fmt"

	"surehook.example/surehook/internal/conflict"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

// leavePlaces gives back places of the tenant in the lane slot. If the process dies first, they
// expire.
func (g *Gate) leavePlaces(ctx context.Context, tenant hook.TenantID, places ...admission.Held) error {
	if len(places) == 0 {
		return nil
	}
	read := func() (admission.Limits, error) { return g.placesOf(ctx, tenant) }
	return contentionOf(conflict.Update(ctx, g.Wait, maxTries, nil, read, func(before admission.Limits) error {
		if err := g.Store.ChangePlaces(ctx, tenant, before, before.End(places...), g.Places); err != nil {
			return fmt.Errorf("change places of tenant %s: %w", tenant, err)
		}
		return nil
	}), tenant)
}
