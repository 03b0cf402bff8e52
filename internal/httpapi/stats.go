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

// getStats responds with statistics of a tenant or of an endpoint.
func (h *manage) getStats(ctx context.Context, c *call) (reply, error) {
	q := query(c, sinceParam, untilParam, byParam, groupParam)
	of := status.StatsQuery{Endpoint: c.r.PathValue("endpoint"), Since: q.time(sinceParam), Until: q.time(untilParam), Hourly: q.hourly()}
	of.Group = q.grouping(of.Endpoint != "")
	if err := refusal(q.wrong); err != nil {
		return reply{}, err
	}
	return answer(h.Status.Statistics(ctx, c.tenant, of))
}

// getPipelineStats responds with statistics of all tenants.
func (h *manage) getPipelineStats(ctx context.Context, c *call) (reply, error) {
	q := query(c, byParam, groupParam)
	of := status.StatsQuery{Hourly: q.hourly(), Group: status.Grouping(q.Get(groupParam))}
	q.wrong.Refuse(q.Has(groupParam) && of.Group != status.GroupTenant, groupParam, "must be tenant")
	if err := refusal(q.wrong); err != nil {
		return reply{}, err
	}
	return answer(h.Status.PipelineStatistics(ctx, of))
}

func (q *params) hourly() bool {
	by := q.Get(byParam)
	q.wrong.Refuse(q.Has(byParam) && by != "hour" && by != "total", byParam, "must be hour or total")
	return by == "hour"
}

// grouping returns the grouping. The statistics of one endpoint cannot be grouped by endpoint.
func (q *params) grouping(endpoint bool) status.Grouping {
	switch g := status.Grouping(q.Get(groupParam)); {
	case !q.Has(groupParam):
		return status.GroupNone
	case g == status.GroupType, g == status.GroupEndpoint && !endpoint:
		return g
	case endpoint:
		q.wrong.Add(groupParam, "must be type")
	default:
		q.wrong.Add(groupParam, "must be endpoint or type")
	}
	return status.GroupNone
}
