package status

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/delivery/backlog"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/condition"
	"surehook.example/surehook/internal/rule/stats"
)

// EndpointSummary is what a list shows of an endpoint's health. The counts cover the
// hours of condition.Span.
type EndpointSummary struct {
	Name
	Status              hook.Status `json:"status"`
	condition.Condition `json:"condition"`
	Attention           bool          `json:"attention"` // the owner should look at the endpoint
	Circuit             circuit.State `json:"circuit"`
	Attempts            int           `json:"attempts"`
	Delivered           int           `json:"delivered"`
	Failed              int           `json:"failed"` // attempts
	Dead                int           `json:"dead"`
	Waiting             int           `json:"waiting,omitzero"`       // retrying and parked, of the endpoints whose deliveries were counted; 0 for the others
	AtRisk              int           `json:"at_risk,omitzero"`       // as in Waiting, of the same
	FirstLoss           time.Time     `json:"first_loss_at,omitzero"` // as AtRisk
	Success             *float64      `json:"success_rate,omitzero"`  // of the attempts; nil without
	P95                 time.Duration `json:"latency_p95,omitzero"`   // of the attempts with a response or a timeout; 0 without
	Hours               []HourSummary `json:"hours"`                  // in order; hours without counts are absent
}

// HourSummary holds the counts of one clock hour.
type HourSummary struct {
	Start     time.Time `json:"hour"`
	Delivered int       `json:"delivered"`
	Failed    int       `json:"failed"` // attempts
	Dead      int       `json:"dead"`
}

// MaxHealth bounds the endpoints whose hours a tenant's health reads.
const MaxHealth = 500

// maxWaiting bounds the endpoints whose waiting deliveries a tenant's health counts.
const maxWaiting = 20

// TenantHealth is the health of all endpoints of a tenant.
type TenantHealth struct {
	At        time.Time         `json:"at"`
	Since     time.Time         `json:"since"`     // start of the first hour
	Matching  int               `json:"endpoints"` // also those past MaxHealth
	Waiting   TenantWaiting     `json:"waiting"`
	Endpoints []EndpointSummary `json:"data"`
}

// TenantWaiting counts the waiting deliveries of a tenant.
type TenantWaiting struct {
	backlog.Counted     // not Complete also with more than maxWaiting endpoints that can have waiting deliveries
	Queued          int `json:"queued_estimate"` // mean number of queued deliveries over the current clock hour and the hour before
	Waiting             // of the worst of these endpoints
}

// TenantHealth returns the health of the tenant's endpoints whose id, uid, URL or description contains
// search, in any case, ordered by harm. The empty search selects all. See troubled for the at most
// MaxHealth endpoints of the answer. The call makes at most a request per 1 MB of the list of endpoints, 26
// for attended circuits if more match, two per 100 endpoints of the answer and one for each of them,
// and with a search one per 100 endpoints of the tenant.
//
// The call then counts the waiting deliveries of at most maxWaiting endpoints: of those
// with parked deliveries, an open circuit, or failed attempts. It makes at most one request for
// each of them and three for each of its shards (see backlog.LookAt).
func (r *Reader) TenantHealth(ctx context.Context, tenant hook.TenantID, search string) (TenantHealth, error) {
	now := r.now()
	h := TenantHealth{At: now, Since: judgedSince(now)}
	endpoints, err := r.troubled(ctx, tenant, search, &h)
	if err != nil {
		return TenantHealth{}, err
	}
	all, err := r.judgeAll(ctx, tenant, endpoints, now)
	if err != nil {
		return TenantHealth{}, err
	}
	var queued float64
	for _, s := range all {
		queued += queuedIn(s.counts, now)
	}
	h.Waiting.Queued = int(math.Round(queued))
	slices.SortStableFunc(all, func(a, b *summarized) int {
		return condition.Compare(a.harm.of(a.harm.Condition), b.harm.of(b.harm.Condition))
	})
	if err := r.addWaiting(ctx, &h, all); err != nil {
		return TenantHealth{}, err
	}
	for _, s := range all {
		h.Endpoints = append(h.Endpoints, s.EndpointSummary)
	}
	return h, nil
}

// troubled returns at most MaxHealth of the matching endpoints: those whose circuits the breaker
// attends to, and then the first by id. Without a search it reads no others.
func (r *Reader) troubled(ctx context.Context, tenant hook.TenantID, search string, h *TenantHealth) ([]hook.Endpoint, error) {
	ids, err := r.Store.EndpointIDs(ctx, tenant, "", 0)
	if err != nil {
		return nil, fmt.Errorf("list endpoints of tenant %s: %w", tenant, err)
	}
	if search != "" {
		all, err := r.Store.EndpointsOf(ctx, tenant, ids)
		if err != nil {
			return nil, fmt.Errorf("read endpoints of tenant %s: %w", tenant, err)
		}
		all = slices.DeleteFunc(all, func(e hook.Endpoint) bool { return !e.Named(search) })
		if h.Matching = len(all); h.Matching <= MaxHealth {
			return all, nil
		}
		ids = endpoint.IDsOf(all)
	}
	if h.Matching = len(ids); h.Matching > MaxHealth {
		attended, err := r.Store.Attended(ctx, maxAttended)
		if err != nil {
			return nil, fmt.Errorf("list attended circuits: %w", err)
		}
		rank := make(map[hook.EndpointID]int, len(attended)) // of the others: 0
		for _, record := range attended {
			rank[record.Endpoint] = -1
		}
		slices.SortStableFunc(ids, func(a, b hook.EndpointID) int { return cmp.Compare(rank[a], rank[b]) })
		ids = ids[:MaxHealth]
	}
	endpoints, err := r.Store.EndpointsOf(ctx, tenant, ids)
	if err != nil {
		return nil, fmt.Errorf("read endpoints of tenant %s: %w", tenant, err)
	}
	return endpoints, nil
}

// summarized is an endpoint whose hours were read.
type summarized struct {
	EndpointSummary
	part
}

// judgeAll returns the endpoints of the tenant with their conditions and summaries.
func (r *Reader) judgeAll(ctx context.Context, tenant hook.TenantID, endpoints []hook.Endpoint, now time.Time) ([]*summarized, error) {
	records, err := r.Store.CircuitsOf(ctx, endpoint.IDsOf(endpoints))
	if err != nil {
		return nil, fmt.Errorf("read circuits of tenant %s: %w", tenant, err)
	}
	all := make([]*summarized, len(endpoints))
	err = each(ctx, len(endpoints), concurrentReads, func(ctx context.Context, i int) error {
		found, hours, err := r.judge(ctx, endpoints[i], recordOf(records, tenant, endpoints[i].ID), now)
		if err == nil {
			all[i] = &summarized{summary(&found, hours), found}
		}
		return err
	})
	return all, err
}

// addWaiting counts the waiting deliveries of the endpoints, which are sorted by harm.
func (r *Reader) addWaiting(ctx context.Context, h *TenantHealth, all []*summarized) error {
	var waiting []*summarized
	for _, s := range all {
		if s.record.Waiting || s.Circuit != circuit.Closed || s.Failed > 0 {
			waiting = append(waiting, s)
		}
	}
	h.Waiting.Counted = backlog.Counted{Complete: len(waiting) <= maxWaiting && h.Matching <= MaxHealth}
	waiting = waiting[:min(len(waiting), maxWaiting)]
	err := each(ctx, len(waiting), concurrentReads, func(ctx context.Context, i int) error { return r.fill(ctx, &waiting[i].part, h.At) })
	for _, e := range waiting {
		h.Waiting.add(e.waiting)
		h.Waiting.Add(e.harm.Counted)
		e.Waiting, e.AtRisk, e.FirstLoss = e.waiting.Retrying+e.waiting.Parked, e.waiting.AtRisk, e.waiting.FirstLoss
	}
	return err
}

// summary returns the summary of a judged endpoint. It does not keep the hours, which are too large.
func summary(of *part, hours []stats.Hour) EndpointSummary {
	sum := stats.Sum(hours, time.Time{})
	s := EndpointSummary{
		Name: of.harm.Name, Status: of.endpoint.Status, Condition: of.harm.Condition, Circuit: of.record.State,
		Attempts: sum.Attempts(), Delivered: sum.Delivered, Failed: sum.Unsuccessful(), Dead: sum.Dead,
	}
	s.Attention = of.harm.of(s.Condition).Attention()
	f := sum.Figures()
	shown := figuresOf(&f)
	if s.Success = shown.Success; shown.Latency != nil {
		s.P95 = shown.Latency.P95
	}
	for i := range hours {
		h := &hours[i]
		counted := HourSummary{Start: h.Start, Delivered: h.Delivered, Failed: h.Unsuccessful(), Dead: max(h.Dead, 0)}
		if counted.Delivered > 0 || counted.Failed > 0 || counted.Dead > 0 {
			s.Hours = append(s.Hours, counted)
		}
	}
	return s
}

// judgedSince returns the start of the first hour for judged.
func judgedSince(now time.Time) time.Time { return now.Add(-condition.Span).Truncate(time.Hour) }

// judged returns the condition of the endpoint by its hours from judgedSince on.
func judged(e hook.Endpoint, r admission.Record, hours []stats.Hour) condition.Condition {
	return condition.Of(condition.Facts{
		Status: e.Status, Reason: e.Reason, StatusSince: e.StatusSince, CreatedAt: e.CreatedAt, Circuit: r.Circuit, Hours: hours, Began: r.Review.Began, Judged: r.Review.Judged,
	})
}

// maxLooked is the number of endpoints that a page of Attention looks at.
const maxLooked = page.MaxLimit

// Attention returns a page of the tenant's endpoints that need attention, in the order of their ids:
// without a cursor all of them, and with the cursor of a Trouble those of its cause.
//
// A page looks at maxLooked endpoints, and can be empty before the end of the list. It makes three
// requests, one for each endpoint that it looks at, and for those of the cause at most one more and
// three for each shard (see backlog.LookAt).
func (r *Reader) Attention(ctx context.Context, tenant hook.TenantID, p page.Request) (page.List[EndpointHarm], error) {
	return page.After(attentionScope(tenant), p, func(position string) (found []EndpointHarm, next string, err error) {
		of, after, _ := strings.Cut(position, "#")
		ids, err := r.Store.EndpointIDs(ctx, tenant, hook.EndpointID(after), maxLooked+1)
		if err != nil {
			return nil, "", fmt.Errorf("list endpoints of tenant %s: %w", tenant, err)
		}
		endpoints, err := r.Store.EndpointsOf(ctx, tenant, ids[:min(len(ids), maxLooked)])
		if err != nil {
			return nil, "", fmt.Errorf("read endpoints of tenant %s: %w", tenant, err)
		}
		if found, err = r.harmed(ctx, tenant, endpoints, of); err != nil {
			return nil, "", err
		}
		if len(ids) > maxLooked {
			next = of + "#" + string(ids[maxLooked-1])
		}
		if len(found) > p.Limit {
			found, next = page.First(found, p.Limit, func(e EndpointHarm) string { return of + "#" + string(e.ID) })
		}
		return found, next, nil
	})
}

func attentionScope(tenant hook.TenantID) string { return page.Scope("attention", string(tenant)) }

// text names the cause in a cursor.
func (c cause) text() string { return fmt.Sprintf("%v %v %d %v", c.state, c.class, c.status, c.reason) }

// harmed returns those of the tenant's endpoints that need attention, in their order; only those of
// the cause if it is not empty.
func (r *Reader) harmed(ctx context.Context, tenant hook.TenantID, endpoints []hook.Endpoint, of string) ([]EndpointHarm, error) {
	now := r.now()
	all, err := r.judgeAll(ctx, tenant, endpoints, now)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s *summarized) bool { return of != "" && causeOf(s.harm).text() != of })
	err = each(ctx, len(all), concurrentReads, func(ctx context.Context, i int) error { return r.fill(ctx, &all[i].part, now) })
	if err != nil {
		return nil, err
	}
	var found []EndpointHarm
	for _, s := range all {
		if s.attention() {
			found = append(found, s.harm)
		}
	}
	return found, nil
}
