package registry

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"surehook/internal/delivery/gate"
	"surehook/internal/delivery/replay"
	"surehook/internal/hook"
	"surehook/internal/rule/review"
	"surehook/internal/rule/stats"
)

// Bounds of what one page of the pipeline looks at.
const (
	maxCounted  = 500  // endpoints
	maxAttended = 1000 // circuits
	activeHours = 25   // of the clock: longer than the longest delay of a preset
)

// Pipeline is how the deliveries of all tenants do, on one page.
type Pipeline struct {
	At           time.Time
	Complete     bool // false: more endpoints or deliveries than could be counted; counts are lower bounds
	Waiting      Waiting
	Oldest       hook.Delivery // the oldest of Waiting; zero when none was found
	Hour         Window        // the hour of the clock under way and the one before
	OpenCircuits int           // circuits that are open or half-open
	Queues       map[string]Depth
}

// Queued returns how many messages wait in the lanes of first attempts.
func (p *Pipeline) Queued() int {
	live, again := p.Queues["live"], p.Queues["replay"]
	return live.Visible + live.Delayed + again.Visible + again.Delayed
}

// InFlight returns how many messages of all lanes are in a function's hands.
func (p *Pipeline) InFlight() int {
	return p.Queues["live"].InFlight + p.Queues["retry"].InFlight + p.Queues["replay"].InFlight
}

// Dead returns how many dead letters are open.
func (p *Pipeline) Dead() int {
	d := p.Queues["dead_letters"]
	return d.Visible + d.InFlight + d.Delayed
}

// Pipeline looks at the queues, and at the endpoints that are attended to or were
// active in the last activeHours, maxCounted of them at most. What it counts of
// them is that of an index that may lag a moment.
func (r *Registry) Pipeline(ctx context.Context) (Pipeline, error) {
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
	p.OpenCircuits = gate.CountOpen(attended)
	busy, err := r.busy(ctx, attended, now)
	if err != nil {
		return Pipeline{}, err
	}
	var mu sync.Mutex
	counted, err := r.counting(ctx, func(ctx context.Context, group *errgroup.Group) {
		for _, id := range busy[:min(len(busy), maxCounted)] {
			group.Go(func() error {
				part, err := r.part(ctx, id, p.Hour.Since)
				mu.Lock()
				defer mu.Unlock()
				p.add(part)
				return err
			})
		}
	})
	p.Complete = counted && len(busy) <= maxCounted && len(attended) < maxAttended
	return p, err
}

// busy returns the endpoints that are attended to or were active of late, the
// former and those active last first: at least one more than maxCounted if there are so many.
func (r *Registry) busy(ctx context.Context, attended []gate.Record, now time.Time) ([]hook.EndpointID, error) {
	var hours [activeHours][]hook.CircuitCheck
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(countAtOnce)
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
		return nil, err //nolint:wrapcheck // it says what it was
	}
	var found []hook.EndpointID
	seen := make(map[hook.EndpointID]bool)
	add := func(id hook.EndpointID) {
		if !seen[id] {
			seen[id] = true
			found = append(found, id)
		}
	}
	for _, record := range attended {
		add(record.Endpoint)
	}
	for _, looks := range hours {
		for _, look := range looks {
			add(look.Endpoint)
		}
	}
	return found, nil
}

// part is what one endpoint adds to a Pipeline.
type part struct {
	waiting Waiting
	oldest  hook.Delivery
	counts  stats.Counts
}

// part returns what the endpoint adds; with an error, what was found out before.
func (r *Registry) part(ctx context.Context, endpoint hook.EndpointID, since time.Time) (part, error) {
	var found part
	hours, err := r.Stats.Hours(ctx, endpoint, since)
	if err != nil {
		return found, fmt.Errorf("read hours of endpoint %s: %w", endpoint, err)
	}
	found.counts = stats.Sum(hours, since)
	for state, n := range map[hook.State]*int{hook.StateRetrying: &found.waiting.Retrying, hook.StateParked: &found.waiting.Parked} {
		if *n, err = r.count(ctx, endpoint, state); err != nil {
			return found, err
		}
		if *n == 0 {
			continue
		}
		oldest, _, err := r.Index.Select(ctx, replay.Selection{Endpoint: endpoint, State: state, Limit: 1})
		if err != nil {
			return found, fmt.Errorf("find oldest %s delivery of endpoint %s: %w", state, endpoint, err)
		}
		for _, d := range oldest {
			found.oldest = older(found.oldest, d)
		}
	}
	return found, nil
}

func (p *Pipeline) add(found part) {
	p.Waiting.Retrying += found.waiting.Retrying
	p.Waiting.Parked += found.waiting.Parked
	p.Oldest = older(p.Oldest, found.oldest)
	p.Hour.Add(found.counts)
}

// older returns the one of the two that was made first; one that is zero is none.
func older(a, b hook.Delivery) hook.Delivery {
	if a.CreatedAt.IsZero() || !b.CreatedAt.IsZero() && b.CreatedAt.Before(a.CreatedAt) {
		return b
	}
	return a
}
