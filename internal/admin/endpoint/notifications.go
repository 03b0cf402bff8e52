package endpoint

import (
	"context"
	"fmt"

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
	list := page.Scope("decisions", string(tenant), string(e.ID))
	after, err := page.OpenCursor(list, p.Cursor)
	if err != nil {
		return page.List[hook.Notification]{}, err
	}
	data, next, err := a.History.Notifications(ctx, e.ID, after, p.Limit)
	if err != nil {
		return page.List[hook.Notification]{}, fmt.Errorf("list notifications of endpoint %s: %w", e.ID, err)
	}
	return page.List[hook.Notification]{Data: data, Next: page.NewCursor(list, next)}, nil
}
