package registry

import (
	"context"
	"fmt"
	"unicode/utf8"

	"surehook/internal/hook"
)

// maxPosition is more bytes than any position in an endpoint's history has.
const maxPosition = 512

// Notices returns a page of what was decided about the tenant's endpoint that ref
// names, the newest first.
func (r *Registry) Notices(ctx context.Context, tenant hook.TenantID, ref string, p Page) (List[hook.Notice], error) {
	e, err := r.Endpoint(ctx, tenant, ref)
	if err != nil {
		return List[hook.Notice]{}, err
	}
	list := scope("history", string(tenant), string(e.ID))
	after, err := OpenCursor(list, p.Cursor)
	if err != nil {
		return List[hook.Notice]{}, err
	}
	if len(after) > maxPosition || !utf8.ValidString(after) { // forged: no store takes it for a key
		return List[hook.Notice]{}, errForeignCursor()
	}
	data, next, err := r.History.Notices(ctx, e.ID, after, p.Limit)
	if err != nil {
		return List[hook.Notice]{}, fmt.Errorf("list notices of endpoint %s: %w", e.ID, err)
	}
	return List[hook.Notice]{Data: data, Next: NewCursor(list, next)}, nil
}
