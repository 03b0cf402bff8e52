package status

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"surehook.example/surehook/internal/delivery/backlog"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/condition"
	"surehook.example/surehook/internal/rule/review"
	"surehook.example/surehook/internal/rule/stats"
)

// EndpointSummary is what a list shows of an endpoint's health. The counts cover the
// hours of condition.Span.
type EndpointSummary struct {
	condition.Harm

	Endpoint  hook.Endpoint
	AtRisk    int       // as in Waiting, like Harm.Waiting of the endpoints whose deliveries were counted; 0 for the others
	FirstLoss time.Time // as AtRisk
	Circuit   circuit.State
	Attempts  int
	Successes int // attempts
	Delivered int
	P95       time.Duration // of the attempts with a response or a timeout; 0 without
	Hours     []HourSummary // in order; hours without counts may be absent
}

// HourSummary holds the counts of one clock hour.
type HourSummary struct {
	Start           time.Time
	Delivered, Dead int // deliveries
	Failed          int // attempts
}

// MaxHealth bounds the endpoints whose hours a tenant's health reads.
const MaxHealth = 500

// maxWaiting bounds the endpoints whose waiting deliveries a tenant's health counts.
const maxWaiting = 20

// TenantHealth is the health of all endpoints of a tenant.
type TenantHealth struct {
	At, Since       time.Time // Since is the start of the first hour
	Matching        int       // endpoints, also those past MaxHealth
	Endpoints       []EndpointSummary
	Queued          float64 // mean number of queued deliveries over the current clock hour and the hour before
	Waiting         Waiting // of the worst maxWaiting endpoints that can have waiting deliveries
	backlog.Counted         // Waiting; not Complete also with more such endpoints
}

// TenantHealth returns the health of the tenant's endpoints whose id, uid, URL or description contains
// search, in any case, ordered by harm. The empty search selects all. See troubled for the at most
// MaxHealth endpoints of the answer. The call makes a request per 1 MB of the list of endpoints, 26
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
	records, err := r.Circuits.CircuitsOf(ctx, idsOf(endpoints))
	if err != nil {
		return TenantHealth{}, fmt.Errorf("read circuits of tenant %s: %w", tenant, err)
	}
	h.Endpoints = make([]EndpointSummary, len(endpoints))
	queued, means := make([]float64, len(endpoints)), make([]time.Duration, len(endpoints))
	group, grouped := errgroup.WithContext(ctx)
	group.SetLimit(concurrentReads)
	for i, e := range endpoints {
		group.Go(func() error {
			hours, err := r.Stats.Hours(grouped, e.ID, h.Since)
			if err != nil {
				return fmt.Errorf("read hours of endpoint %s: %w", e.ID, err)
			}
			recent := review.Recent(hours, now)
			h.Endpoints[i] = summary(e, recordOf(records, tenant, e.ID), hours)
			queued[i], means[i] = queuedIn(recent, now), recent.Latency.Mean()
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return TenantHealth{}, err
	}
	mean := make(map[hook.EndpointID]time.Duration, len(endpoints))
	for i, e := range endpoints {
		h.Queued += queued[i]
		mean[e.ID] = means[i]
	}
	slices.SortStableFunc(h.Endpoints, func(a, b EndpointSummary) int { return condition.Compare(a.Harm, b.Harm) })
	return h, r.addWaiting(ctx, &h, records, mean)
}

// troubled returns at most MaxHealth of the matching endpoints: those whose circuits the breaker
// attends to, and then the first by id. Without a search it reads no others.
func (r *Reader) troubled(ctx context.Context, tenant hook.TenantID, search string, h *TenantHealth) ([]hook.Endpoint, error) {
	ids, err := r.Lists.EndpointIDs(ctx, tenant, "", 0)
	if err != nil {
		return nil, fmt.Errorf("list endpoints of tenant %s: %w", tenant, err)
	}
	if search != "" {
		all, err := r.Lists.EndpointsOf(ctx, tenant, ids)
		if err != nil {
			return nil, fmt.Errorf("read endpoints of tenant %s: %w", tenant, err)
		}
		ids = idsOf(slices.DeleteFunc(all, func(e hook.Endpoint) bool { return !e.Named(search) }))
	}
	if h.Matching = len(ids); h.Matching > MaxHealth {
		attended, err := r.Circuits.Attended(ctx, maxAttended)
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
	endpoints, err := r.Lists.EndpointsOf(ctx, tenant, ids)
	if err != nil {
		return nil, fmt.Errorf("read endpoints of tenant %s: %w", tenant, err)
	}
	return endpoints, nil
}

// addWaiting counts the waiting deliveries of the endpoints, which are sorted by harm. mean is that
// of the recent answers.
func (r *Reader) addWaiting(ctx context.Context, h *TenantHealth, records map[hook.EndpointID]admission.Record, mean map[hook.EndpointID]time.Duration) error {
	var waiting []*EndpointSummary
	for i := range h.Endpoints {
		e := &h.Endpoints[i]
		if records[e.Endpoint.ID].Waiting || e.Circuit != circuit.Closed || e.Failed > 0 {
			waiting = append(waiting, e)
		}
	}
	h.Counted = backlog.Counted{Complete: len(waiting) <= maxWaiting && h.Matching <= MaxHealth}
	waiting = waiting[:min(len(waiting), maxWaiting)]
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrentReads)
	for _, e := range waiting {
		group.Go(func() error {
			s, err := r.Endpoints.StatusOf(ctx, e.Endpoint, recordOf(records, e.Endpoint.Tenant, e.Endpoint.ID))
			if err != nil {
				return err
			}
			c, err := r.counts(ctx, &s, mean[e.Endpoint.ID], h.At)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			found := waitingOf(c, &s)
			h.Waiting.add(found)
			h.Add(c.Counted)
			e.Waiting, e.AtRisk, e.FirstLoss = found.Retrying+found.Parked, found.AtRisk, found.FirstLoss
			return nil
		})
	}
	return group.Wait()
}

// summary returns the summary of the endpoint. It does not keep the hours, which are too large.
func summary(e hook.Endpoint, r admission.Record, hours []stats.Hour) EndpointSummary {
	sum := stats.Sum(hours, time.Time{})
	attempts, successes := sum.Attempts(), sum.Classes[hook.ClassDelivered]
	s := EndpointSummary{
		Harm:     condition.Harm{Condition: judged(e, r, hours), Dead: sum.Dead, Failed: attempts - successes},
		Endpoint: e, Circuit: r.State, Attempts: attempts, Successes: successes, Delivered: sum.Delivered,
		Hours: make([]HourSummary, len(hours)),
	}
	if sum.Latency.Count() > 0 {
		s.P95 = sum.Latency.Percentile(95)
	}
	for i := range hours {
		h := &hours[i]
		s.Hours[i] = HourSummary{
			Start: h.Start, Delivered: h.Delivered, Dead: max(h.Dead, 0), Failed: h.Attempts() - h.Classes[hook.ClassDelivered],
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

func idsOf(endpoints []hook.Endpoint) []hook.EndpointID {
	ids := make([]hook.EndpointID, len(endpoints))
	for i, e := range endpoints {
		ids[i] = e.ID
	}
	return ids
}
