package httpapi

import (
	"context"
	"fmt"
	"time"

	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/hook"
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
	if err := q.wrong.err(); err != nil {
		return reply{}, err
	}
	return shown(viewStats)(h.Status.Statistics(ctx, c.tenant, of))
}

// getPipelineStats responds with statistics of all tenants.
func (h *manage) getPipelineStats(ctx context.Context, c *call) (reply, error) {
	q := query(c, byParam, groupParam)
	of := status.PipelineQuery{Hourly: q.hourly(), Tenants: q.Has(groupParam)}
	if of.Tenants && q.Get(groupParam) != "tenant" {
		q.wrong.add(groupParam, "must be tenant")
	}
	if err := q.wrong.err(); err != nil {
		return reply{}, err
	}
	s, complete, err := h.Status.PipelineStatistics(ctx, of)
	if err != nil {
		return reply{}, fmt.Errorf("read statistics: %w", err)
	}
	return ok(pipelineStatsView{Complete: complete, statsView: viewStats(s)}), nil
}

func (q *params) hourly() bool {
	by := q.Get(byParam)
	if q.Has(byParam) && by != "hour" && by != "total" {
		q.wrong.add(byParam, "must be hour or total")
	}
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
		q.wrong.add(groupParam, "must be type")
	default:
		q.wrong.add(groupParam, "must be endpoint or type")
	}
	return status.GroupNone
}

// statsView holds statistics.
type statsView struct {
	Since     time.Time      `json:"since"`
	Until     time.Time      `json:"until"`
	Endpoints int            `json:"endpoints"`
	Data      []statsRowView `json:"data"`
}

// pipelineStatsView holds statistics of all tenants.
type pipelineStatsView struct {
	Complete bool `json:"complete"`
	statsView
}

// statsRowView holds the figures of a group. Rows of event types lack the fields that only endpoints
// have.
type statsRowView struct {
	Hour     time.Time       `json:"hour,omitzero"`
	Tenant   hook.TenantID   `json:"tenant,omitzero"`
	Endpoint hook.EndpointID `json:"endpoint_id,omitzero"`
	Type     string          `json:"event_type,omitzero"`
	Other    bool            `json:"other,omitzero"`
	figuresView
	ByOutcome   map[string]int `json:"attempts_by_outcome,omitzero"`
	DeliveredAt []int          `json:"delivered_by_attempt"`
}

func viewStats(s status.Statistics) statsView {
	v := statsView{Since: s.Since, Until: s.Until, Endpoints: s.Endpoints, Data: make([]statsRowView, len(s.Rows))}
	for i, r := range s.Rows {
		v.Data[i] = viewStatsRow(r)
	}
	return v
}

func viewStatsRow(r status.StatsRow) statsRowView {
	v := viewOf[statsRowView](r)
	v.figuresView, v.ByOutcome, v.DeliveredAt = viewFigures(&r.Figures), viewOutcomes(r.ByOutcome[:]), viewNumbers(r.DeliveredAt[:])
	if r.Waited == 0 { // of an event type: not counted
		v.MeanDelivery = nil
	}
	return v
}

func viewLatency(samples int, percentile func(p float64) time.Duration) *latencyView {
	at := func(p float64) time.Duration { return percentile(p).Truncate(time.Microsecond) }
	return &latencyView{Samples: samples, P50: at(50), P95: at(95), P99: at(99)}
}

// viewOutcomes returns the counts by class; nil for none.
func viewOutcomes(classes []int) map[string]int {
	var v map[string]int
	for class, n := range classes {
		if n > 0 {
			if v == nil {
				v = make(map[string]int)
			}
			v[hook.Class(class).String()] = n
		}
	}
	return v
}

// viewNumbers returns the counts from number 1 to the last number with a count.
func viewNumbers(counts []int) []int {
	v := []int{}
	for i, n := range counts[1:] {
		if n > 0 { // numbers without counts stay 0
			v = append(v, make([]int, i+1-len(v))...)
			v[i] = n
		}
	}
	return v
}
