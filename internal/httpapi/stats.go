package httpapi

import (
	"context"

	"surehook.example/surehook/internal/admin/status"
)

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
		of.Group = status.Grouping(q.word(groupParam, "must be endpoint or type", "endpoint", "type"))
	} else {
		of.Group = status.Grouping(q.word(groupParam, "must be type", "type"))
	}
	return q.answer(func() (any, error) { return h.Status.Statistics(ctx, c.tenant, of) })
}

// getPipelineStats responds with statistics of all tenants.
func (h *manage) getPipelineStats(ctx context.Context, c *call) (reply, error) {
	q := query(c, byParam, groupParam)
	of := status.StatsQuery{Hourly: q.hourly(), Group: status.Grouping(q.word(groupParam, "must be tenant", "tenant"))}
	return q.answer(func() (any, error) { return h.Status.PipelineStatistics(ctx, of) })
}

func (q *params) hourly() bool {
	return q.word(byParam, "must be hour or total", "hour", "total") == "hour"
}
