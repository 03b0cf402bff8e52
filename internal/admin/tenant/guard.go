package tenant

import (
	"context"
	"fmt"
	"time"

	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
)

// Guard decides whether a tenant may be changed now.
type Guard struct {
	Store settle.TenantLimits
	Now   func() time.Time
}

// Check returns CodeTenantClosing for a tenant with an erasure under way, and counts the change of
// another one: past the limit ChangesPerHour it returns CodeThrottled. A change that is not counted
// is one of the limits themselves, or the end of a portal link, whose visitor may have used them up.
// Another process may mark the tenant after the check: the erasure finds the late change.
func (g Guard) Check(ctx context.Context, tenant hook.TenantID, counted bool) error {
	l, err := g.Store.TenantLimits(ctx, tenant)
	if err != nil {
		return fmt.Errorf("check tenant %s: %w", tenant, err)
	}
	if l.ChangesPerHour == 0 || !counted {
		return nil
	}
	wait, err := g.Store.Spend(ctx, tenant, hook.NewSpend(hook.SpentChanges, 1, l.ChangesPerHour, time.Hour, g.Now()))
	if err != nil {
		return fmt.Errorf("count changes of tenant %s: %w", tenant, err)
	}
	if wait > 0 {
		return fmt.Errorf("check tenant %s: %w", tenant, l.TooManyChanges(wait))
	}
	return nil
}
