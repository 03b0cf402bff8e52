package httpapi

import (
	"context"
	"fmt"
	"time"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/hook"
)

// getHealth responds with the health of the pipeline.
func (h *manage) getHealth(ctx context.Context, _ *call) (reply, error) {
	return answer(h.Status.Pipeline(ctx))
}

// getEndpointHealth responds with the health of one endpoint.
func (h *manage) getEndpointHealth(ctx context.Context, c *call) (reply, error) {
	return answer(h.Status.Health(ctx, c.tenant, c.r.PathValue("endpoint")))
}

// listDecisions responds with the decisions about an endpoint.
func (h *manage) listDecisions(ctx context.Context, c *call) (reply, error) {
	return viewList(listQuery(c), func(req page.Request) (page.List[hook.Notification], error) {
		return h.Endpoints.Notifications(ctx, c.tenant, c.r.PathValue("endpoint"), req)
	}, viewOf[decisionView])
}

type decisionView struct {
	Type      string             `json:"event_type"`
	At        time.Time          `json:"at"`
	Reason    string             `json:"reason"`
	Figures   map[string]float64 `json:"figures"`
	FirstLoss time.Time          `json:"first_loss_at,omitzero"`
	Delivery  hook.DeliveryID    `json:"delivery_id,omitzero"`
}

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
	return viewList(listQuery(c), func(req page.Request) (page.List[status.EndpointHarm], error) {
		return h.Status.Attention(ctx, c.tenant, req)
	}, func(e status.EndpointHarm) status.EndpointHarm { return e })
}

// Parameters of statistics.
const (
	byParam    = "by"
	groupParam = "group"
)

// getStats responds with statistics of a tenant or of an endpoint, which cannot be grouped by endpoint.
func (h *manage) getStats(ctx context.Context, c *call) (reply, error) {
	q := query(c, sinceParam, untilParam, byParam, groupParam)
	of := status.StatsQuery{Endpoint: c.r.PathValue("endpoint"), Since: q.time(sinceParam), Until: q.time(untilParam), Hourly: q.hourly()}
	if of.Endpoint == "" {
		of.Group = q.word(groupParam, "must be endpoint or type", "endpoint", "type")
	} else {
		of.Group = q.word(groupParam, "must be type", "type")
	}
	return q.answer(func() (any, error) { return h.Status.Statistics(ctx, c.tenant, of) })
}

// getPipelineStats responds with statistics of all tenants.
func (h *manage) getPipelineStats(ctx context.Context, c *call) (reply, error) {
	q := query(c, byParam, groupParam)
	of := status.StatsQuery{Hourly: q.hourly(), Group: q.word(groupParam, "must be tenant", "tenant")}
	return q.answer(func() (any, error) { return h.Status.PipelineStatistics(ctx, of) })
}

func (q *params) hourly() bool {
	return q.word(byParam, "must be hour or total", "hour", "total") == "hour"
}
