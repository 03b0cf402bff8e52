package httpapi

import (
	"cmp"
	"context"
	"time"

	"surehook.example/surehook/internal/admin/search"
	"surehook.example/surehook/internal/hook"
)

const textParam = "q"

type searchView struct {
	Data []foundView `json:"data"`
}

type foundView struct {
	Kind   search.Kind   `json:"kind"`
	ID     string        `json:"id"`
	Tenant hook.TenantID `json:"tenant"`
	Name   string        `json:"name,omitzero"`
	State  string        `json:"state,omitzero"`
	At     time.Time     `json:"at,omitzero"`
}

// search finds records by an id, of the tenant in the path or of all tenants. Replay jobs are
// only found with the scope that reads them.
func (h *manage) search(ctx context.Context, c *call) (reply, error) {
	q := query(c, textParam)
	if err := q.wrong.err(); err != nil {
		return reply{}, err
	}
	return shown(viewFound)(h.Searcher.Search(ctx, search.Query{
		Text: q.Get(textParam), Tenant: cmp.Or(c.tenant, hook.AllTenants), Jobs: c.principal.May(hook.ScopeReplay),
	}))
}

func viewFound(all []search.Found) searchView { return searchView{Data: viewsOf[foundView](all)} }
