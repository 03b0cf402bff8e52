package httpapi

import (
	"context"
	"fmt"
	"math"
	"time"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/condition"
)

// defaultEndpointRows is the number of rows in a tenant's health if the request has no limit.
const defaultEndpointRows = 100

// maxSearch bounds the text to search for, in bytes.
const maxSearch = 200

// getTenantHealth responds with the health of a tenant's endpoints, the worst first.
func (h *manage) getTenantHealth(ctx context.Context, c *call) (reply, error) {
	q := query(c, "search", "limit")
	limit := q.limit(defaultEndpointRows, status.MaxHealth)
	if len(q.Get("search")) > maxSearch {
		q.wrong.add("search", fmt.Sprintf("must have at most %d bytes", maxSearch))
	}
	if err := q.wrong.err(); err != nil {
		return reply{}, err
	}
	health, err := h.Status.TenantHealth(ctx, c.tenant, q.Get("search"))
	if err != nil {
		return reply{}, fmt.Errorf("read health of tenant: %w", err)
	}
	v := viewTenantHealth(health, limit)
	if v.Endpoints == 0 && q.Get("search") == "" {
		if v.Unknown, err = h.unknown(ctx, c.tenant); err != nil {
			return reply{}, err
		}
	}
	return ok(v), nil
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

// conditionView is the condition of an endpoint.
type conditionView struct {
	State  condition.State `json:"state"`
	Since  time.Time       `json:"since,omitzero"`
	Class  hook.Class      `json:"class,omitzero"`
	Status int             `json:"status,omitzero"`
	Reason hook.Reason     `json:"reason,omitzero"`
}

// tenantHealthView is the health of a tenant's endpoints.
type tenantHealthView struct {
	At        time.Time             `json:"at"`
	Since     time.Time             `json:"since"`
	Unknown   bool                  `json:"unknown,omitzero"`
	Endpoints int                   `json:"endpoints"` // all that match, even those without a row
	Waiting   waitingView           `json:"waiting"`
	Data      []endpointSummaryView `json:"data"`
}

// waitingView counts the waiting deliveries of a tenant.
type waitingView struct {
	countedView
	Queued    int                 `json:"queued_estimate"`
	Retrying  int                 `json:"retrying"`
	Parked    int                 `json:"parked"`
	Reasons   map[hook.Reason]int `json:"parked_by_reason"` // of the oldest parked deliveries of each endpoint
	AtRisk    int                 `json:"at_risk"`
	FirstLoss time.Time           `json:"first_loss_at,omitzero"`
}

// endpointSummaryView is an endpoint in the health of a tenant. Rates and durations without
// samples are left out.
type endpointSummaryView struct {
	ID        hook.EndpointID    `json:"endpoint_id"`
	UID       string             `json:"uid"`
	URL       string             `json:"url"`
	Status    hook.Status        `json:"status"`
	Condition conditionView      `json:"condition"`
	Attention bool               `json:"attention"`
	Circuit   circuit.State      `json:"circuit"`
	Attempts  int                `json:"attempts"`
	Delivered int                `json:"delivered"`
	Failed    int                `json:"failed"` // attempts
	Dead      int                `json:"dead"`
	Waiting   int                `json:"waiting,omitzero"`
	AtRisk    int                `json:"at_risk,omitzero"`
	FirstLoss time.Time          `json:"first_loss_at,omitzero"`
	Success   *float64           `json:"success_rate,omitzero"`
	P95       time.Duration      `json:"latency_p95,omitzero"`
	Hours     []endpointHourView `json:"hours"`
}

// endpointHourView holds the counts of one clock hour.
type endpointHourView struct {
	Hour      time.Time `json:"hour"`
	Delivered int       `json:"delivered"`
	Failed    int       `json:"failed"` // attempts
	Dead      int       `json:"dead"`
}

// attentionView is the endpoints of a tenant that need attention for one cause.
type attentionView struct {
	Tenant    hook.TenantID `json:"tenant"`
	Condition conditionView `json:"condition"`
	Endpoints int           `json:"endpoints"`
	harmView

	Worst  []needingView `json:"worst"`
	Cursor string        `json:"cursor,omitzero"` // if Worst leaves endpoints out
}

// needingView is an endpoint that needs attention.
type needingView struct {
	Endpoint  hook.EndpointID `json:"endpoint_id"`
	UID       string          `json:"uid"`
	URL       string          `json:"url"`
	Condition conditionView   `json:"condition"`
	countedView
	harmView
}

// harmView is the damage that a condition does.
type harmView struct {
	Dead      int       `json:"dead"`    // of any age
	Waiting   int       `json:"waiting"` // retrying and parked
	AtRisk    int       `json:"at_risk"`
	FirstLoss time.Time `json:"first_loss_at,omitzero"`
}

// viewTenantHealth returns at most limit rows.
func viewTenantHealth(h status.TenantHealth, limit int) tenantHealthView {
	v := tenantHealthView{
		At: h.At, Since: h.Since, Endpoints: h.Matching,
		Waiting: waitingView{
			countedView: countedView(h.Counted), Queued: int(math.Round(h.Queued)), Retrying: h.Waiting.Retrying, Parked: h.Waiting.Parked, Reasons: viewReasons(h.Waiting.Reasons),
			AtRisk: h.Waiting.AtRisk, FirstLoss: h.Waiting.FirstLoss,
		},
	}
	v.Data = make([]endpointSummaryView, min(len(h.Endpoints), limit))
	for i := range v.Data {
		v.Data[i] = viewEndpointSummary(&h.Endpoints[i])
	}
	return v
}

func viewEndpointSummary(s *status.EndpointSummary) endpointSummaryView {
	v := viewOf[endpointSummaryView](*s)
	v.UID, v.URL, v.Status = s.Endpoint.UID, s.Endpoint.URL, s.Endpoint.Status
	v.ID, v.Condition, v.Attention, v.Hours = s.Endpoint.ID, viewOf[conditionView](s.Condition), s.Attention(), []endpointHourView{}
	if s.Attempts > 0 {
		v.Success = new(float64(s.Successes) / float64(s.Attempts))
	}
	v.P95 = s.P95.Truncate(time.Microsecond)
	for _, h := range s.Hours {
		if h.Delivered > 0 || h.Failed > 0 || h.Dead > 0 {
			v.Hours = append(v.Hours, endpointHourView{Hour: h.Start, Delivered: h.Delivered, Failed: h.Failed, Dead: h.Dead})
		}
	}
	return v
}

// maxWorst bounds the endpoints of an attentionView.
const maxWorst = 10

// viewAttention returns the troubles in their order.
func viewAttention(all []status.Trouble) []attentionView {
	v := make([]attentionView, len(all))
	for i := range all {
		t := &all[i]
		v[i] = attentionView{
			Tenant: t.Endpoint.Tenant, Condition: viewOf[conditionView](t.Condition), Endpoints: len(t.Endpoints), harmView: viewOf[harmView](t.EndpointHarm),
			Worst: make([]needingView, min(len(t.Endpoints), maxWorst)),
		}
		for n := range v[i].Worst {
			v[i].Worst[n] = viewNeeding(t.Endpoints[n])
		}
		if len(t.Endpoints) > maxWorst {
			v[i].Cursor = t.Cursor()
		}
	}
	return v
}

func viewNeeding(e status.EndpointHarm) needingView {
	v := viewOf[needingView](e)
	v.Endpoint, v.UID, v.URL, v.Condition = e.Endpoint.ID, e.Endpoint.UID, e.Endpoint.URL, viewOf[conditionView](e.Condition)
	return v
}

// listAttention responds with a page of a tenant's endpoints that need attention.
func (h *manage) listAttention(ctx context.Context, c *call) (reply, error) {
	return viewList(listQuery(c), func(req page.Request) (page.List[status.EndpointHarm], error) {
		return h.Status.Attention(ctx, c.tenant, req)
	}, viewNeeding)
}
