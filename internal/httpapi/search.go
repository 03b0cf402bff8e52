package httpapi

import (
	"cmp"
	"context"

	"surehook.example/surehook/internal/admin/search"
	"surehook.example/surehook/internal/hook"
)

const textParam = "q"

// search finds records by an id, of the tenant in the path or of all tenants. Replay jobs are
// only found with the scope that reads them.
func (h *manage) search(ctx context.Context, c *call) (reply, error) {
	q := query(c, textParam)
	of := search.Query{Text: q.Get(textParam), Tenant: cmp.Or(c.tenant, hook.AllTenants), Jobs: c.principal.May(hook.ScopeReplay)}
	return q.answer(func() (any, error) {
		found, err := h.Searcher.Search(ctx, of)
		return allView[search.Found]{found}, err
	})
}
