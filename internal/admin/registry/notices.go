package registry

import (
	"context"
	"fmt"
	"unicode/utf8"

	"surehook/internal/admin/page"
	"surehook/internal/hook"
)

// maxPosition is more bytes than any position in an endpoint's history has.
const maxPosition = 512

// Notifications returns a page of what was decided about the tenant's endpoint that ref
// names, the newest first.
func (r *Registry) Notifications(ctx context.Context, tenant hook.TenantID, ref string, p page.Request) (page.List[hook.Notification], error) {
	e, err := r.Endpoint(ctx, tenant, ref)
	if err != nil {
		return page.List[hook.Notification]{}, err
	}
	list := page.Scope("history", string(tenant), string(e.ID))
	after, err := page.OpenCursor(list, p.Cursor)
	if err != nil {
		return page.List[hook.Notification]{}, err
	}
	if len(after) > maxPosition || !utf8.ValidString(after) { // forged: no store takes it for a key
		return page.List[hook.Notification]{}, page.InvalidCursor()
	}
	data, next, err := r.History.Notifications(ctx, e.ID, after, p.Limit)
	if err != nil {
		return page.List[hook.Notification]{}, fmt.Errorf("list notices of endpoint %s: %w", e.ID, err)
	}
	return page.List[hook.Notification]{Data: data, Next: page.NewCursor(list, next)}, nil
}
