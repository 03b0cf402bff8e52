package status

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/condition"
	"surehook.example/surehook/internal/rule/review"
	"surehook.example/surehook/internal/rule/stats"
)

// Limits of one Pipeline call.
const (
	maxCounted   = 500  // endpoints
	maxAttended  = 1000 // circuits
	activeHours  = 25   // clock hours: more than 24 h, the longest retry delay of a preset
	maxAttention = 10   // endpoints
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
	Attention    []EndpointHarm        // of the counted endpoints, the worst maxAttention
	Queues       map[string]Depth
}

// EndpointHarm is an endpoint that needs attention. Dead counts deliveries of any age.
type EndpointHarm struct {
	condition.Harm

	Endpoint hook.Endpoint
}

// Queued returns the number of messages ready or delayed in all lanes but the retry lane. The
// lanes slot and overflow also hold retries, which Waiting counts as well.
func (p *Pipeline) Queued() int {
	n := 0
	for _, lane := range hook.Lanes() {
		if lane != hook.LaneRetry {
			n += p.Queues[lane.String()].Visible + p.Queues[lane.String()].Delayed
		}
	}
	return n
}

// InFlight returns the number of messages received by functions, in all lanes.
func (p *Pipeline) InFlight() int {
	n := 0
	for _, lane := range hook.Lanes() {
		n += p.Queues[lane.String()].InFlight
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
// The call makes 25 requests for the list of endpoints, and at most seven per endpoint, plus one
// per page of a count.
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
	// The records include every circuit that is not closed.
	circuits := make(map[hook.EndpointID]circuit.Circuit, len(attended))
	for _, record := range attended {
		circuits[record.Endpoint] = record.Circuit
	}
	var mu sync.Mutex
	counted, err := r.counting(ctx, countTimeout, func(ctx context.Context, group *errgroup.Group) {
		for _, check := range busy[:min(len(busy), maxCounted)] {
			group.Go(func() error {
				c, known := circuits[check.Endpoint]
				if !known {
					c = circuit.New()
				}
				part, err := r.part(ctx, check, c, now)
				mu.Lock()
				defer mu.Unlock()
				p.add(part)
				return err
			})
		}
	})
	slices.SortFunc(p.Attention, func(a, b EndpointHarm) int {
		return cmp.Or(condition.Compare(a.Harm, b.Harm), cmp.Compare(a.Endpoint.ID, b.Endpoint.ID))
	})
	p.Attention = p.Attention[:min(len(p.Attention), maxAttention)]
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
	waiting Waiting
	dead    int
	oldest  hook.Delivery
	counts  stats.Counts
	harm    EndpointHarm // zero for a deleted endpoint
}

// part returns the share of the endpoint; with an error, the share counted so far.
func (r *Reader) part(ctx context.Context, of hook.CircuitCheck, c circuit.Circuit, now time.Time) (part, error) {
	var found part
	hours, err := r.Stats.Hours(ctx, of.Endpoint, judgedSince(now))
	if err != nil {
		return found, fmt.Errorf("read hours of endpoint %s: %w", of.Endpoint, err)
	}
	target := hook.DeletedTarget(of.Endpoint)
	e, err := r.Endpoints.Get(ctx, of.Tenant, string(of.Endpoint))
	switch {
	case err == nil:
		target = e.Widest()
		found.harm = EndpointHarm{Endpoint: e, Harm: summary(e, c, hours).Harm}
	case hook.CodeOf(err) != hook.CodeNotFound:
		return found, fmt.Errorf("find endpoint %s: %w", of.Endpoint, err)
	}
	found.counts = review.Recent(hours, now)
	if found.waiting, found.oldest, err = r.waiting(ctx, target); err != nil {
		return found, err
	}
	if found.waiting.Retrying > 0 {
		oldest, _, err := r.Index.Select(ctx, replay.Selection{Target: target, State: hook.StateRetrying, Limit: 1})
		if err != nil {
			return found, fmt.Errorf("find oldest retrying delivery of endpoint %s: %w", of.Endpoint, err)
		}
		for _, d := range oldest {
			found.oldest = older(found.oldest, d)
		}
	}
	// The waiting deliveries are counted first, because a timeout may cut off the count of the
	// dead.
	found.dead, err = r.count(ctx, target, hook.StateDead)
	return found, err
}

func (p *Pipeline) add(found part) {
	found.harm.Dead, found.harm.Waiting = found.dead, found.waiting.Retrying+found.waiting.Parked
	if found.harm.State != 0 && found.harm.Attention() {
		p.Attention = append(p.Attention, found.harm)
	}
	p.Waiting.add(found.waiting)
	p.Dead += found.dead
	p.Oldest = older(p.Oldest, found.oldest)
	p.Hour.Add(&found.counts)
}

// older returns the delivery with the earlier CreatedAt. A zero delivery counts as none.
func older(a, b hook.Delivery) hook.Delivery {
	if a.CreatedAt.IsZero() || !b.CreatedAt.IsZero() && b.CreatedAt.Before(a.CreatedAt) {
		return b
	}
	return a
}
