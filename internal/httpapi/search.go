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
	if err := refusal(q.wrong); err != nil {
		return reply{}, err
	}
	return shown(viewAll[search.Found])(h.Searcher.Search(ctx, search.Query{
		Text: q.Get(textParam), Tenant: cmp.Or(c.tenant, hook.AllTenants), Jobs: c.principal.May(hook.ScopeReplay),
	}))
}
