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
	"surehook.example/surehook/internal/delivery/backlog"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/condition"
	"surehook.example/surehook/internal/rule/review"
	"surehook.example/surehook/internal/rule/stats"
)

// Limits of one Pipeline call.
const (
	maxCounted  = 500  // endpoints
	maxAttended = 1000 // circuits
	activeHours = 25   // clock hours: more than 24 h, the longest retry delay of a preset
)

// Pipeline is the health of the deliveries of all tenants.
type Pipeline struct {
	At           time.Time
	Complete     bool // false: counts are lower bounds, after a timeout or with too many endpoints
	Waiting      Waiting
	Dead         int                   // dead deliveries of any age, of the counted endpoints
	Oldest       hook.Delivery         // the oldest delivery of Waiting; zero when none was found
	Hour         Window                // the current clock hour and the hour before
	OpenCircuits map[hook.TenantID]int // open and half-open circuits
	Attention    []Trouble             // of the counted endpoints, the worst first
	Queues       map[string]Depth
}

// EndpointHarm is an endpoint that needs attention. Dead counts deliveries of any age.
type EndpointHarm struct {
	condition.Harm

	Endpoint  hook.Endpoint
	AtRisk    int // deliveries that are lost if nothing changes
	FirstLoss time.Time
	Complete  bool // false after a timeout: the counts are lower bounds
}

// Trouble is the endpoints of a tenant that need attention for one cause: the same state, class and
// reason, and of refused attempts the same status. Its counts are sums, and its times the earliest.
type Trouble struct {
	EndpointHarm // Endpoint is the worst one

	Endpoints []EndpointHarm // all, the worst first
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
	of := cause{tenant: e.Endpoint.Tenant, state: e.State, class: e.Class, reason: e.Reason}
	if e.Class == hook.ClassRefused {
		of.status = e.Status
	}
	return of
}

// troubles groups the endpoints by tenant and cause, the worst first.
func troubles(endpoints []EndpointHarm) []Trouble {
	slices.SortFunc(endpoints, func(a, b EndpointHarm) int {
		return cmp.Or(condition.Compare(a.Harm, b.Harm), cmp.Compare(a.Endpoint.ID, b.Endpoint.ID))
	})
	var all []Trouble
	at := make(map[cause]int)
	for _, e := range endpoints {
		of := causeOf(e)
		i, known := at[of]
		if !known {
			at[of] = len(all)
			all = append(all, Trouble{EndpointHarm: e, Endpoints: []EndpointHarm{e}})
			continue
		}
		t := &all[i]
		t.Endpoints = append(t.Endpoints, e)
		t.Dead, t.Waiting, t.Failed, t.AtRisk = t.Dead+e.Dead, t.Waiting+e.Waiting, t.Failed+e.Failed, t.AtRisk+e.AtRisk
		t.Since, t.FirstLoss = backlog.Earlier(t.Since, e.Since), backlog.Earlier(t.FirstLoss, e.FirstLoss)
	}
	slices.SortStableFunc(all, func(a, b Trouble) int { return condition.Compare(a.Harm, b.Harm) })
	return all
}

// Queued returns the number of messages ready or delayed in all queues but the retry queue. The
// queues slot and overflow also hold retries, which Waiting counts as well.
func (p *Pipeline) Queued() int {
	n := 0
	for _, queue := range hook.Queues() {
		if queue != hook.QueueRetry {
			n += p.Queues[queue.String()].Visible + p.Queues[queue.String()].Delayed
		}
	}
	return n
}

// InFlight returns the number of messages received by functions, in all queues.
func (p *Pipeline) InFlight() int {
	n := 0
	for _, queue := range hook.Queues() {
		n += p.Queues[queue.String()].InFlight
	}
	return n
}

// Pipeline measures the queues and counts the deliveries of at most maxCounted endpoints: first
// those with a circuit that is not closed or with parked deliveries, then those with attempts in
// the last activeHours. The indexes may lag by a moment.
//
// Dead is the sum of Health.Dead over the counted endpoints. It counts records, because the
// dead-letter queue keeps messages for only 14 days. An endpoint without parked deliveries, with
// a closed circuit and without attempts in activeHours is not counted, because there is no list
// of all endpoints, and because the cost must not grow with the number of endpoints that ever
// existed. Such an endpoint can need attention only because of old dead deliveries.
//
// The call makes 400 requests for the list of endpoints, and at most eight per endpoint, plus one
// per page of a count, and more for the forecast of a long backlog (see backlog.Count).
func (r *Reader) Pipeline(ctx context.Context) (Pipeline, error) {
	now := r.now()
	p := Pipeline{At: now, Hour: Window{Since: review.RecentSince(now)}}
	var err error
	if p.Queues, err = r.Queues.Depths(ctx); err != nil {
		return Pipeline{}, fmt.Errorf("read depths of queues: %w", err)
	}
	attended, err := r.Circuits.Attended(ctx, maxAttended)
	if err != nil {
		return Pipeline{}, fmt.Errorf("list attended circuits: %w", err)
	}
	p.OpenCircuits = admission.OpenByTenant(attended)
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
	var harmed []EndpointHarm
	counted, err := r.counting(ctx, countTimeout, func(ctx context.Context, group *errgroup.Group) {
		for _, check := range busy[:min(len(busy), maxCounted)] {
			group.Go(func() error {
				part, err := r.part(ctx, check, recordOf(records, check.Tenant, check.Endpoint), now)
				mu.Lock()
				defer mu.Unlock()
				p.add(part)
				if harm, needed := part.attention(); needed {
					harmed = append(harmed, harm)
				}
				return err
			})
		}
	})
	p.Attention = troubles(harmed)
	p.Complete = counted && len(busy) <= maxCounted && len(attended) < maxAttended
	return p, err
}

// busy returns the endpoints of the attended records, then the endpoints with
// attempts in the last activeHours, latest hour first. The list is longer than
// maxCounted if more endpoints exist.
func (r *Reader) busy(ctx context.Context, attended []admission.Record, now time.Time) ([]hook.CircuitCheck, error) {
	var hours [activeHours][]hook.CircuitCheck
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(countConcurrency)
	for i := range hours {
		group.Go(func() (err error) {
			hours[i], err = r.Stats.Active(ctx, now.Add(-time.Duration(i)*time.Hour), hook.CircuitCheck{}, maxCounted+1)
			if err != nil {
				return fmt.Errorf("list active endpoints: %w", err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
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
	record  admission.Record
	waiting Waiting
	dead    int
	oldest  hook.Delivery
	counts  stats.Counts
	harm    EndpointHarm // of a deleted endpoint without a condition
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
	found, err := r.judge(ctx, e, record, now)
	if err != nil {
		return found, err
	}
	if deleted {
		found.harm = EndpointHarm{Endpoint: e}
	}
	return found, r.fill(ctx, &found, now)
}

// judge returns the condition of the endpoint and its recent counts.
func (r *Reader) judge(ctx context.Context, e hook.Endpoint, record admission.Record, now time.Time) (part, error) {
	hours, err := r.Stats.Hours(ctx, e.ID, judgedSince(now))
	if err != nil {
		return part{}, fmt.Errorf("read hours of endpoint %s: %w", e.ID, err)
	}
	return part{record: record, counts: review.Recent(hours, now), harm: EndpointHarm{Harm: summary(e, record, hours).Harm, Endpoint: e}}, nil
}

// fill counts the deliveries of a judged endpoint; with an error, those so far.
func (r *Reader) fill(ctx context.Context, f *part, now time.Time) error {
	s := endpoint.Status{Endpoint: f.harm.Endpoint, Admits: 1} // what waits for a deleted endpoint is cancelled soon, and is at no risk
	var err error
	if f.harm.State != 0 {
		if s, err = r.Endpoints.StatusOf(ctx, f.harm.Endpoint, f.record); err != nil {
			return err
		}
	}
	if f.waiting, f.oldest, _, err = r.waiting(ctx, &s, f.counts.Latency.Mean(), now); err != nil {
		return err
	}
	// The waiting deliveries are counted first, because a timeout may cut off the count of the
	// dead.
	f.dead, err = r.count(ctx, s.Endpoint.Widest(), hook.StateDead)
	f.harm.Complete = err == nil
	return err
}

// attention returns the endpoint with its counts. needed is false for one that needs no attention and
// loses nothing, or is deleted.
func (f *part) attention() (harm EndpointHarm, needed bool) {
	harm = f.harm
	harm.Dead, harm.Waiting = f.dead, f.waiting.Retrying+f.waiting.Parked
	harm.AtRisk, harm.FirstLoss = f.waiting.AtRisk, f.waiting.FirstLoss
	return harm, harm.State != 0 && (harm.Attention() || harm.AtRisk > 0)
}

func (p *Pipeline) add(found part) {
	p.Waiting.add(found.waiting)
	p.Dead += found.dead
	p.Oldest = backlog.Older(p.Oldest, found.oldest)
	p.Hour.Add(&found.counts)
}
