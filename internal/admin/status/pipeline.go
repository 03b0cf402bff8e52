package status

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/delivery/backlog"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/condition"
	"surehook.example/surehook/internal/rule/review"
	"surehook.example/surehook/internal/rule/stats"
)

// Limits of one Pipeline call.
const (
	maxCounted       = 500  // endpoints
	maxAttended      = 1000 // circuits
	activeHours      = 25   // clock hours: more than 24 h, the longest retry delay of a preset
	countConcurrency = 16
	countTimeout     = 10 * time.Second // well below the 30 s limit of an HTTP API
)

// Pipeline is the health of the deliveries of all tenants.
type Pipeline struct {
	At              time.Time           `json:"at"`
	backlog.Counted                     // not Complete also after a timeout, or with too many endpoints
	Queued          int                 `json:"queued"`    // messages ready or delayed in all queues but the retry queue; slot and overflow also hold retries, which Retrying counts as well
	InFlight        int                 `json:"in_flight"` // messages received by functions, in all queues
	Waiting                             // of the counted endpoints
	Dead            int                 `json:"dead"`                    // dead deliveries of any age, of the counted endpoints
	Oldest          Pending             `json:"oldest_pending,omitzero"` // the oldest delivery that is retrying or parked; zero when none was found
	OpenCircuits    int                 `json:"open_circuits"`           // and half-open ones
	OpenByTenant    []TenantCount       `json:"open_circuits_by_tenant"` // at most maxOpenTenants, most first
	Attention       []Trouble           `json:"attention"`               // of the counted endpoints, the worst first
	LastHour        LastHour            `json:"last_hour"`
	Queues          names.Queues[Depth] `json:"queues"` // Undeliverable: of both queues of messages set aside
}

// maxOpenTenants bounds the tenants with open circuits in a Pipeline.
const maxOpenTenants = 10

// TenantCount is the number of a tenant's open circuits.
type TenantCount struct {
	Tenant hook.TenantID `json:"tenant"`
	Count  int           `json:"count"`
}

// LastHour holds the counts of the current clock hour and the hour before.
type LastHour struct {
	Since        time.Time      `json:"since"`
	Delivered    int            `json:"delivered"`
	Failed       int            `json:"failed"` // attempts
	Dead         int            `json:"dead"`
	MeanDelivery *time.Duration `json:"mean_delivery_time,omitzero"`
}

// Pending is a waiting delivery of a tenant.
type Pending struct {
	ID        hook.DeliveryID `json:"delivery_id"`
	Tenant    hook.TenantID   `json:"tenant"`
	State     hook.State      `json:"state"`
	CreatedAt time.Time       `json:"created_at"`
	Age       time.Duration   `json:"age"`
}

// Name identifies an endpoint for people.
type Name struct {
	ID  hook.EndpointID `json:"endpoint_id"`
	UID string          `json:"uid"`
	URL string          `json:"url"`
}

// Damage is what a condition does.
type Damage struct {
	Dead      int       `json:"dead"`    // deliveries of any age
	Waiting   int       `json:"waiting"` // retrying and parked deliveries
	AtRisk    int       `json:"at_risk"` // deliveries that are lost if nothing changes
	FirstLoss time.Time `json:"first_loss_at,omitzero"`
	Failed    int       `json:"-"` // attempts
}

func (d Damage) of(c condition.Condition) condition.Harm {
	return condition.Harm{Condition: c, Dead: d.Dead, Waiting: d.Waiting, Failed: d.Failed}
}

// EndpointHarm is an endpoint that needs attention.
type EndpointHarm struct {
	Name
	condition.Condition `json:"condition"`
	backlog.Counted
	Damage

	Tenant hook.TenantID `json:"-"`
}

// maxWorst bounds the endpoints in a Trouble.
const maxWorst = 10

// Trouble is the endpoints of a tenant that need attention for one cause: the same state, class and
// reason, and of refused attempts the same status. Its counts are sums, and its times the earliest.
type Trouble struct {
	Tenant              hook.TenantID      `json:"tenant"`
	condition.Condition `json:"condition"` // of the worst
	Endpoints           int                `json:"endpoints"`
	Damage
	Worst  []EndpointHarm `json:"worst"`           // at most maxWorst, the worst first
	Cursor string         `json:"cursor,omitzero"` // of Attention for all of them, if Worst leaves some out
}

// cause is what the endpoints of a Trouble have in common.
type cause struct {
	tenant hook.TenantID
	state  condition.State
	class  hook.Class
	status int // of the class refused: 401 and 404 are two causes, 502 and 503 are one
	reason hook.Reason
}

func causeOf(e EndpointHarm) cause {
	of := cause{tenant: e.Tenant, state: e.State, class: e.Class, reason: e.Reason}
	if e.Class == hook.ClassRefused {
		of.status = e.Status
	}
	return of
}

// troubles groups the endpoints by tenant and cause, the worst first.
func troubles(endpoints []EndpointHarm) []Trouble {
	slices.SortFunc(endpoints, func(a, b EndpointHarm) int {
		return cmp.Or(condition.Compare(a.of(a.Condition), b.of(b.Condition)), cmp.Compare(a.ID, b.ID))
	})
	var all []Trouble
	at := make(map[cause]int)
	for _, e := range endpoints {
		of := causeOf(e)
		i, known := at[of]
		if !known {
			at[of] = len(all)
			all = append(all, Trouble{Tenant: e.Tenant, Condition: e.Condition, Damage: e.Damage, Endpoints: 1, Worst: []EndpointHarm{e}})
			continue
		}
		t := &all[i]
		if t.Endpoints++; t.Endpoints > maxWorst {
			t.Cursor = page.NewCursor(attentionScope(of.tenant), of.text()+"#")
		} else {
			t.Worst = append(t.Worst, e)
		}
		t.Dead, t.Waiting, t.Failed, t.AtRisk = t.Dead+e.Dead, t.Waiting+e.Waiting, t.Failed+e.Failed, t.AtRisk+e.AtRisk
		t.Since, t.FirstLoss = backlog.Earlier(t.Since, e.Since), backlog.Earlier(t.FirstLoss, e.FirstLoss)
	}
	slices.SortStableFunc(all, func(a, b Trouble) int { return condition.Compare(a.of(a.Condition), b.of(b.Condition)) })
	return all
}

// measure sets the depths of the queues, and their sums.
func (p *Pipeline) measure(depths names.Queues[Depth]) {
	all := depths.All()
	for _, queue := range hook.Queues() {
		depth := all[queue.String()]
		if p.InFlight += depth.InFlight; queue != hook.QueueRetry {
			p.Queued += depth.Visible + depth.Delayed
		}
	}
	p.Queues, p.Queues.Undeliverable = depths, depths.Undeliverable.and(depths.UndeliverableRetry)
}

// count sets the numbers of open circuits.
func (p *Pipeline) count(open map[hook.TenantID]int) {
	for tenant, n := range open {
		p.OpenCircuits += n
		p.OpenByTenant = append(p.OpenByTenant, TenantCount{Tenant: tenant, Count: n})
	}
	slices.SortFunc(p.OpenByTenant, func(a, b TenantCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Tenant, b.Tenant))
	})
	p.OpenByTenant = p.OpenByTenant[:min(len(p.OpenByTenant), maxOpenTenants)]
}

// Pipeline measures the queues and counts the deliveries of at most maxCounted endpoints: first
// those with a circuit that is not closed or with parked deliveries, then those with attempts in
// the last activeHours. The indexes may lag by a moment.
//
// Dead is the sum of Deliveries.Dead over the counted endpoints. It counts records, because the
// dead-letter queue keeps messages for only 14 days. An endpoint without parked deliveries, with
// a closed circuit and without attempts in activeHours is not counted, because there is no list
// of all endpoints, and because the cost must not grow with the number of endpoints that ever
// existed. Such an endpoint can need attention only because of old dead deliveries.
//
// The call makes 400 requests for the list of endpoints, and at most four per endpoint and three for
// each of its shards (see backlog.LookAt). It counts for countTimeout at most.
func (r *Reader) Pipeline(ctx context.Context) (Pipeline, error) {
	now := r.now()
	p := Pipeline{At: now, Counted: backlog.Counted{Complete: true}}
	depths, err := r.Queues.Depths(ctx)
	if err != nil {
		return Pipeline{}, fmt.Errorf("read depths of queues: %w", err)
	}
	p.measure(depths)
	attended, err := r.Store.Attended(ctx, maxAttended)
	if err != nil {
		return Pipeline{}, fmt.Errorf("list attended circuits: %w", err)
	}
	p.count(admission.OpenByTenant(attended))
	busy, err := r.busy(ctx, attended, now)
	if err != nil {
		return Pipeline{}, err
	}
	// The records include every circuit that is not closed, and every endpoint with parked deliveries.
	records := make(map[hook.EndpointID]admission.Record, len(attended))
	for _, record := range attended {
		records[record.Endpoint] = record
	}
	var mu sync.Mutex
	var (
		harmed []EndpointHarm
		hour   stats.Counts
	)
	counted, err := counting(ctx, func(ctx context.Context) error {
		return each(ctx, min(len(busy), maxCounted), countConcurrency, func(ctx context.Context, i int) error {
			part, err := r.part(ctx, busy[i], recordOf(records, busy[i].Tenant, busy[i].Endpoint), now)
			mu.Lock()
			defer mu.Unlock()
			p.add(part)
			hour.Add(&part.counts)
			if part.attention() {
				harmed = append(harmed, part.harm)
			}
			return err
		})
	})
	p.Attention = troubles(harmed)
	f := hour.Figures()
	p.LastHour = LastHour{
		Since: review.RecentSince(now), Delivered: f.Delivered, Failed: f.Attempts - f.Successes, Dead: f.Dead, MeanDelivery: meanDelivery(&f),
	}
	p.Complete = p.Complete && counted && len(busy) <= maxCounted && len(attended) < maxAttended
	return p, err
}

// busy returns the endpoints of the attended records, then the endpoints with
// attempts in the last activeHours, latest hour first. The list is longer than
// maxCounted if more endpoints exist.
func (r *Reader) busy(ctx context.Context, attended []admission.Record, now time.Time) ([]hook.CircuitCheck, error) {
	var hours [activeHours][]hook.CircuitCheck
	err := each(ctx, activeHours, countConcurrency, func(ctx context.Context, i int) (err error) {
		hours[i], err = r.Store.Active(ctx, now.Add(-time.Duration(i)*time.Hour), hook.CircuitCheck{}, maxCounted+1)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list active endpoints: %w", err)
	}
	var found []hook.CircuitCheck
	seen := make(map[hook.EndpointID]bool)
	add := func(tenant hook.TenantID, id hook.EndpointID) {
		if !seen[id] {
			seen[id] = true
			found = append(found, hook.CircuitCheck{Tenant: tenant, Endpoint: id})
		}
	}
	for _, record := range attended {
		add(record.Tenant, record.Endpoint)
	}
	for _, active := range hours {
		for _, e := range active {
			add(e.Tenant, e.Endpoint)
		}
	}
	return found, nil
}

// part is the share of one endpoint in a Pipeline.
type part struct {
	endpoint hook.Endpoint
	record   admission.Record
	waiting  Waiting
	oldest   backlog.Row
	counts   stats.Counts // recent
	harm     EndpointHarm // of a deleted endpoint without a condition
}

// recordOf returns the endpoint's record; a new one without a stored record.
func recordOf(records map[hook.EndpointID]admission.Record, tenant hook.TenantID, id hook.EndpointID) admission.Record {
	if record, known := records[id]; known {
		return record
	}
	return admission.NewRecord(tenant, id)
}

// part returns the share of the endpoint; with an error, the share counted so far.
func (r *Reader) part(ctx context.Context, of hook.CircuitCheck, record admission.Record, now time.Time) (part, error) {
	e, err := r.Endpoints.Get(ctx, of.Tenant, string(of.Endpoint))
	deleted := hook.CodeOf(err) == hook.CodeNotFound
	if deleted {
		e = hook.Endpoint{ID: of.Endpoint, Shards: hook.MaxShards}
	} else if err != nil {
		return part{}, fmt.Errorf("find endpoint %s: %w", of.Endpoint, err)
	}
	found, _, err := r.judge(ctx, e, record, now)
	if err != nil {
		return found, err
	}
	if deleted {
		found.harm = EndpointHarm{}
	}
	return found, r.fill(ctx, &found, now)
}

// judge returns the condition of the endpoint and its recent counts, and the hours that they are from.
func (r *Reader) judge(ctx context.Context, e hook.Endpoint, record admission.Record, now time.Time) (found part, hours []stats.Hour, err error) {
	hours, err = r.Store.Hours(ctx, e.ID, judgedSince(now))
	if err != nil {
		return part{}, nil, fmt.Errorf("read hours of endpoint %s: %w", e.ID, err)
	}
	sum := stats.Sum(hours, time.Time{})
	harm := EndpointHarm{Name: Name{e.ID, e.UID, e.URL}, Tenant: e.Tenant, Condition: judged(e, record, hours), Damage: Damage{Dead: sum.Dead, Failed: sum.Unsuccessful()}}
	return part{endpoint: e, record: record, counts: review.Recent(hours, now), harm: harm}, hours, nil
}

// fill counts the deliveries of a judged endpoint.
func (r *Reader) fill(ctx context.Context, f *part, now time.Time) error {
	s := endpoint.Status{Endpoint: f.endpoint, Gate: f.record, Passes: true} // what waits for a deleted endpoint is cancelled soon, and is at no risk
	if f.harm.State != 0 {
		var err error
		if s, err = r.Endpoints.StatusOf(ctx, f.endpoint, f.record); err != nil {
			return err
		}
	}
	c, waiting, err := r.counts(ctx, &s, f.counts.Latency.Mean(), now)
	if err != nil {
		return err
	}
	f.waiting, f.oldest = waiting, c.Oldest
	f.harm.Dead, f.harm.Waiting, f.harm.Counted = c.Dead, c.Retrying+c.Parked, c.Counted
	f.harm.AtRisk, f.harm.FirstLoss = f.waiting.AtRisk, f.waiting.FirstLoss
	return nil
}

// attention reports whether the endpoint needs attention: not one that needs none and loses nothing, or
// is deleted.
func (f *part) attention() bool {
	return f.harm.State != 0 && (f.harm.of(f.harm.Condition).Attention() || f.harm.AtRisk > 0)
}

func (p *Pipeline) add(found part) {
	p.Waiting.add(found.waiting)
	p.Dead += found.harm.Dead
	p.Add(found.harm.Counted)
	if d := found.oldest; backlog.Earlier(p.Oldest.CreatedAt, d.CreatedAt) != p.Oldest.CreatedAt {
		p.Oldest = Pending{ID: d.ID, Tenant: found.record.Tenant, State: d.State, CreatedAt: d.CreatedAt, Age: p.At.Sub(d.CreatedAt)}
	}
}

// counting calls count for at most countTimeout. complete is false after it: count then ended early.
func counting(ctx context.Context, count func(context.Context) error) (complete bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()

	err = count(bounded)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return false, nil
	}
	return err == nil, err
}

// each calls f for 0 to n-1, at most limit calls at a time. The first error ends the others.
func each(ctx context.Context, n, limit int, f func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(limit)
	for i := range n {
		group.Go(func() error { return f(ctx, i) })
	}
	return group.Wait()
}
