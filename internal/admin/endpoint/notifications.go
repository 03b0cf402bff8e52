package endpoint

import (
	"context"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/hook"
)

// Notifications returns a page of the notifications about the tenant's endpoint
// with ref as the id or the uid, newest first.
func (a *Admin) Notifications(ctx context.Context, tenant hook.TenantID, ref string, p page.Request) (page.List[hook.Notification], error) {
	e, err := a.Get(ctx, tenant, ref)
	if err != nil {
		return page.List[hook.Notification]{}, err
	}
	return page.After(page.Scope("decisions", string(tenant), string(e.ID)), p, func(after string) ([]hook.Notification, string, error) {
		return a.Store.Notifications(ctx, e.ID, after, p.Limit)
	})
}
