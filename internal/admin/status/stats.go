package status

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/stats"
)

// Bounds of statistics.
const (
	statsDays    = 7
	statsSpan    = statsDays * 24 * time.Hour // the oldest begin
	defaultStats = 24 * time.Hour
	// maxEndpointHours bounds the hours of endpoints that a call reads: 25 clock hours of 500
	// endpoints, or 7 days of 73 endpoints. An hour takes up to 0.23 ms of a CPU
	// (BenchmarkStore_Hours), so all of them take 2.9 s of a CPU, or 10 s in a function with 512
	// MB.
	maxEndpointHours = 12_500
	maxTotalGroups   = 500 // groups of totals; the rest is one group
	maxHourlyGroups  = 20  // groups with a row for each hour; the rest is one group
)

// StatsQuery selects statistics.
type StatsQuery struct {
	Endpoint string    // id or uid; empty: all endpoints of the tenant
	Since    time.Time // rounded down to the hour; zero: 24 hours before Until
	Until    time.Time // hours that begin at or after Until are left out; zero: now
	Hourly   bool      // a row for each clock hour with counts
	Group    string    // what the rows stand for: endpoint, type or, of PipelineStatistics alone, tenant; empty: all
}

// Statistics is the answer to a StatsQuery.
type Statistics struct {
	Since     time.Time  `json:"since"`
	Until     time.Time  `json:"until"`
	Endpoints int        `json:"endpoints"` // number of endpoints read
	Rows      []StatsRow `json:"data"`
}

// StatsGroup is what a row of statistics stands for. The group other has neither tenant, endpoint nor
// type: the groups with the fewest attempts, and the types without counts of their own.
type StatsGroup struct {
	Hour     time.Time       `json:"hour,omitzero"` // zero: all hours
	Tenant   hook.TenantID   `json:"tenant,omitzero"`
	Endpoint hook.EndpointID `json:"endpoint_id,omitzero"`
	Type     string          `json:"event_type,omitzero"`
	Other    bool            `json:"other,omitzero"`
}

// inAll returns the group in all hours.
func (g StatsGroup) inAll() StatsGroup {
	g.Hour = time.Time{}
	return g
}

// StatsRow holds the figures of a group.
type StatsRow struct {
	StatsGroup
	Figures
	ByOutcome   map[hook.Class]int `json:"attempts_by_outcome,omitzero"` // nil for an event type
	DeliveredAt []int              `json:"delivered_by_attempt"`
}

func rowOf(g StatsGroup, f *stats.Figures) StatsRow {
	f.Dead = max(f.Dead, 0)
	r := StatsRow{g, figuresOf(f), byOutcome(f), byNumber(f.DeliveredAt[:])}
	if f.Waited == 0 { // of an event type: not counted
		r.MeanDelivery = nil
	}
	return r
}

// Statistics returns the figures of the tenant's endpoints, or of one endpoint. Deleted
// endpoints are left out. The call makes a request for the list of endpoints and one per endpoint. A
// span with more than maxEndpointHours is CodeInvalid.
func (r *Reader) Statistics(ctx context.Context, tenant hook.TenantID, q StatsQuery) (Statistics, error) {
	q, hours, err := q.within(r.now())
	if err != nil {
		return Statistics{}, err
	}
	endpoints, err := r.counted(ctx, tenant, q.Endpoint)
	if err != nil {
		return Statistics{}, err
	}
	if n := len(endpoints) * hours; n > maxEndpointHours {
		end := q.Until.UTC().Add(time.Hour - 1).Truncate(time.Hour)
		earliest := end.Add(-time.Duration(maxEndpointHours/len(endpoints)) * time.Hour)
		return Statistics{}, hook.Invalid(hook.FieldError{Field: "since", Message: fmt.Sprintf(
			"selects %d hours of %d endpoints: endpoints times hours must be at most %d, so send %s or later",
			hours, len(endpoints), maxEndpointHours, earliest.Format(time.RFC3339))})
	}
	return r.statistics(ctx, q, endpoints, concurrentReads)
}

// statistics adds up the hours of the endpoints, reading at most limit at a time. With an error, it has those so far.
func (r *Reader) statistics(ctx context.Context, q StatsQuery, endpoints []hook.CircuitCheck, limit int) (Statistics, error) {
	s := Statistics{Since: q.Since, Until: q.Until}
	var mu sync.Mutex
	all := make(statsGroups)
	err := each(ctx, len(endpoints), limit, func(ctx context.Context, i int) error {
		hours, err := r.Store.Hours(ctx, endpoints[i].Endpoint, q.Since)
		if err != nil {
			return fmt.Errorf("read hours of endpoint %s: %w", endpoints[i].Endpoint, err)
		}
		mu.Lock()
		defer mu.Unlock()
		s.Endpoints++
		all.add(q, endpoints[i], hours)
		return nil
	})
	s.Rows = all.rows(q)
	return s, err
}

// within returns the query with both times, and the number of clock hours.
func (q StatsQuery) within(now time.Time) (bounded StatsQuery, hours int, err error) {
	if q.Until.IsZero() || q.Until.After(now) {
		q.Until = now
	}
	if q.Since.IsZero() {
		q.Since = q.Until.Add(-defaultStats)
	}
	q.Since = q.Since.UTC().Truncate(time.Hour)
	switch oldest := now.Add(-statsSpan).Truncate(time.Hour); {
	case q.Since.Before(oldest):
		return q, 0, hook.Invalid(hook.FieldError{Field: "since", Message: fmt.Sprintf("must be at most %d days ago", statsDays)})
	case !q.Since.Before(q.Until):
		return q, 0, hook.Invalid(hook.FieldError{Field: "since", Message: "must be before until and now"})
	}
	return q, int((q.Until.Sub(q.Since) + time.Hour - 1) / time.Hour), nil
}

// counted returns the endpoints to read.
func (r *Reader) counted(ctx context.Context, tenant hook.TenantID, ref string) ([]hook.CircuitCheck, error) {
	if ref != "" {
		e, err := r.Endpoints.Get(ctx, tenant, ref)
		if err != nil {
			return nil, fmt.Errorf("find endpoint: %w", err)
		}
		return []hook.CircuitCheck{{Tenant: tenant, Endpoint: e.ID}}, nil
	}
	ids, err := r.Store.EndpointIDs(ctx, tenant, "", 0)
	if err != nil {
		return nil, fmt.Errorf("list endpoints of tenant %s: %w", tenant, err)
	}
	all := make([]hook.CircuitCheck, len(ids))
	for i, id := range ids {
		all[i] = hook.CircuitCheck{Tenant: tenant, Endpoint: id}
	}
	return all, nil
}

// statsGroups holds the sums of the groups.
type statsGroups map[StatsGroup]*stats.Figures

// add adds the hours of the endpoint.
func (g statsGroups) add(q StatsQuery, of hook.CircuitCheck, hours []stats.Hour) {
	for _, h := range hours {
		if !h.Start.Before(q.Until) {
			continue
		}
		var group StatsGroup
		if q.Hourly {
			group.Hour = h.Start
		}
		switch q.Group {
		case "type":
			for name, c := range h.Types.All() {
				group.Type, group.Other = name, name == ""
				g.put(group, c.Figures())
			}
			continue
		case "endpoint":
			group.Endpoint = of.Endpoint
		case "tenant":
			group.Tenant = of.Tenant
		}
		g.put(group, h.Figures())
	}
}

func (g statsGroups) put(group StatsGroup, f stats.Figures) {
	if sum := g[group]; sum != nil {
		sum.Add(f)
		return
	}
	g[group] = &f
}

// rows returns the rows by hour, then by attempts, most first, the group other last.
// Groups past the bound become a part of the group other.
func (g statsGroups) rows(q StatsQuery) []StatsRow {
	most := maxTotalGroups
	if q.Hourly {
		most = maxHourlyGroups
	}
	attempts := make(map[StatsGroup]int)
	for group, f := range g {
		attempts[group.inAll()] += f.Attempts
	}
	delete(attempts, StatsGroup{Other: true})
	shown := slices.SortedFunc(maps.Keys(attempts), func(a, b StatsGroup) int {
		return cmp.Or(cmp.Compare(attempts[b], attempts[a]), cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Endpoint, b.Endpoint), cmp.Compare(a.Type, b.Type))
	})
	order := make(map[StatsGroup]int) // of the group other: 0
	for i, group := range shown[:min(len(shown), most)] {
		order[group] = i - most
	}
	for group, f := range maps.Clone(g) {
		if order[group.inAll()] == 0 && !group.Other {
			g.put(StatsGroup{Hour: group.Hour, Other: true}, *f)
			delete(g, group)
		}
	}
	all := []StatsRow{}
	for group, f := range g {
		all = append(all, rowOf(group, f))
	}
	slices.SortFunc(all, func(a, b StatsRow) int {
		return cmp.Or(a.Hour.Compare(b.Hour), cmp.Compare(order[a.inAll()], order[b.inAll()]))
	})
	return all
}

// PipelineStatistics holds statistics of all tenants.
type PipelineStatistics struct {
	Complete bool `json:"complete"` // false with more endpoints than were read, and after a timeout
	Statistics
}

// PipelineStatistics returns the figures of the last 25 clock hours of at most maxCounted
// endpoints of all tenants: endpoints with attempts in this time, latest hour first,
// deleted endpoints included. q has neither an endpoint nor times.
// The call makes a request for each of the hours, and a request per endpoint.
func (r *Reader) PipelineStatistics(ctx context.Context, q StatsQuery) (PipelineStatistics, error) {
	now := r.now()
	q, _, err := q.within(now)
	if err != nil {
		return PipelineStatistics{}, err
	}
	busy, err := r.busy(ctx, nil, now)
	if err != nil {
		return PipelineStatistics{}, err
	}
	var s PipelineStatistics
	counted, err := counting(ctx, func(ctx context.Context) (err error) {
		s.Statistics, err = r.statistics(ctx, q, busy[:min(len(busy), maxCounted)], countConcurrency)
		return err
	})
	s.Complete = counted && len(busy) <= maxCounted
	return s, err
}

// Figures are what an answer shows of counts. Rates and durations without samples are left out.
type Figures struct {
	Attempts     int            `json:"attempts"`
	Success      *float64       `json:"success_rate,omitzero"`
	FirstSuccess *float64       `json:"first_attempt_success_rate,omitzero"`
	DeadRate     *float64       `json:"dead_rate,omitzero"`
	Delivered    int            `json:"delivered"`
	Dead         int            `json:"dead"`
	Latency      *Latency       `json:"latency,omitzero"`
	MeanDelivery *time.Duration `json:"mean_delivery_time,omitzero"`
	ByNumber     []int          `json:"attempts_by_number"` // first attempts, second attempts, ...
}

// Latency has fractions of milliseconds, because rounding short times to milliseconds would
// exceed the error of 5 %.
type Latency struct {
	Samples int           `json:"samples"`
	P50     time.Duration `json:"p50"`
	P95     time.Duration `json:"p95"`
	P99     time.Duration `json:"p99"`
}

// Window holds the figures of whole clock hours, the current hour included.
type Window struct {
	Since time.Time `json:"since"` // start of the first hour
	Figures
	FinalSuccess *float64           `json:"final_success_rate,omitzero"`
	ByOutcome    map[hook.Class]int `json:"attempts_by_outcome"`
}

func windowOf(since time.Time, c *stats.Counts) Window {
	f := c.Figures()
	return Window{Since: since, Figures: figuresOf(&f), FinalSuccess: known(f.FinalRate(), f.Settled()), ByOutcome: byOutcome(&f)}
}

func figuresOf(f *stats.Figures) Figures {
	shown := Figures{
		Attempts: f.Attempts, Delivered: f.Delivered, Dead: f.Dead, MeanDelivery: meanDelivery(f), ByNumber: byNumber(f.ByNumber[:]),
		Success: known(f.SuccessRate(), f.Attempts), FirstSuccess: known(f.FirstRate(), f.ByNumber[1]), DeadRate: known(f.DeadRate(), f.Settled()),
	}
	if n, percentile := f.Latency(); n > 0 {
		at := func(p float64) time.Duration { return percentile(p).Truncate(time.Microsecond) }
		shown.Latency = &Latency{Samples: n, P50: at(50), P95: at(95), P99: at(99)}
	}
	return shown
}

// known returns the rate of n samples; nil without samples.
func known(rate float64, n int) *float64 {
	if n == 0 {
		return nil
	}
	return &rate
}

// meanDelivery returns the mean time from creation to delivery; nil without deliveries.
func meanDelivery(f *stats.Figures) *time.Duration {
	if f.Delivered == 0 {
		return nil
	}
	return new(f.MeanAge().Truncate(time.Millisecond))
}

// byOutcome returns the attempts by class; nil for none.
func byOutcome(f *stats.Figures) map[hook.Class]int {
	var counts map[hook.Class]int
	for class, n := range f.ByOutcome {
		if n > 0 {
			if counts == nil {
				counts = make(map[hook.Class]int)
			}
			counts[hook.Class(class)] = n
		}
	}
	return counts
}

// byNumber returns the counts from number 1 to the last number with a count.
func byNumber(counts []int) []int {
	last := 0
	for i, n := range counts {
		if n > 0 {
			last = i
		}
	}
	return counts[1 : last+1]
}
