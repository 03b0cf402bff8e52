package httpapi

import (
	"context"
	"fmt"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/hook"
)

// defaultEndpointRows is the number of rows in a tenant's health if the request has no limit.
const defaultEndpointRows = 100

// maxSearch bounds the text to search for, in bytes.
const maxSearch = 200

// tenantHealthView is the health of a tenant's endpoints.
type tenantHealthView struct {
	status.TenantHealth

	Unknown bool `json:"unknown,omitzero"`
}

// getTenantHealth responds with the health of a tenant's endpoints, the worst first.
func (h *manage) getTenantHealth(ctx context.Context, c *call) (reply, error) {
	q := query(c, "search", "limit")
	limit := q.limit(defaultEndpointRows, status.MaxHealth)
	q.wrong.Refuse(len(q.Get("search")) > maxSearch, "search", "must have at most %d bytes", maxSearch)
	if err := refusal(q.wrong); err != nil {
		return reply{}, err
	}
	health, err := h.Status.TenantHealth(ctx, c.tenant, q.Get("search"))
	if err != nil {
		return reply{}, fmt.Errorf("read health of tenant: %w", err)
	}
	v := tenantHealthView{TenantHealth: health}
	v.Endpoints = v.Endpoints[:min(len(v.Endpoints), limit)]
	if v.Matching == 0 && q.Get("search") == "" {
		v.Unknown, err = h.unknown(ctx, c.tenant)
	}
	return answer(v, err)
}

// unknown reports whether the tenant has no endpoint, no event and no limit: its id may be mistyped. A
// tenant is not made, it becomes known by its first use, so no read of it is an error. It makes two requests.
func (h *manage) unknown(ctx context.Context, id hook.TenantID) (bool, error) {
	found, err := h.Tenants.List(ctx, string(id), page.Request{Limit: 1})
	if err != nil {
		return false, fmt.Errorf("look for the tenant: %w", err)
	}
	return len(found.Data) == 0 || found.Data[0].ID != id, nil
}

// listAttention responds with a page of a tenant's endpoints that need attention.
func (h *manage) listAttention(ctx context.Context, c *call) (reply, error) {
	return listed(listQuery(c), func(req page.Request) (page.List[status.EndpointHarm], error) {
		return h.Status.Attention(ctx, c.tenant, req)
	})
}
