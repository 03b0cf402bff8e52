package status

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"
)

// PipelineQuery selects statistics of all tenants.
type PipelineQuery struct {
	Hourly  bool // a row for each clock hour with counts
	Tenants bool // a row for each tenant
}

// PipelineStatistics is the answer to a PipelineQuery.
type PipelineStatistics struct {
	Complete bool `json:"complete"` // false with more endpoints than were read, and after a timeout
	Statistics
}

// PipelineStatistics returns the figures of the last 25 clock hours of at most maxCounted
// endpoints of all tenants: endpoints with attempts in this time, latest hour first,
// deleted endpoints included.
// The call makes a request for each of the hours, and a request per endpoint.
func (r *Reader) PipelineStatistics(ctx context.Context, p PipelineQuery) (PipelineStatistics, error) {
	now := r.now()
	q, _, err := StatsQuery{Hourly: p.Hourly}.within(now)
	if err != nil {
		return PipelineStatistics{}, err
	}
	if p.Tenants {
		q.Group = groupTenant
	}
	busy, err := r.busy(ctx, nil, now)
	if err != nil {
		return PipelineStatistics{}, err
	}
	var mu sync.Mutex
	all := make(statsGroups)
	s := Statistics{Since: q.Since, Until: q.Until}
	counted, err := r.counting(ctx, func(ctx context.Context, group *errgroup.Group) {
		for _, of := range busy[:min(len(busy), maxCounted)] {
			group.Go(func() error {
				counts, err := r.Stats.Hours(ctx, of.Endpoint, q.Since)
				if err != nil {
					return fmt.Errorf("read hours of endpoint %s: %w", of.Endpoint, err)
				}
				mu.Lock()
				defer mu.Unlock()
				s.Endpoints++
				all.add(q, of, counts)
				return nil
			})
		}
	})
	if err != nil {
		return PipelineStatistics{}, err
	}
	s.Rows = all.rows(q)
	return PipelineStatistics{Complete: counted && len(busy) <= maxCounted, Statistics: s}, nil
}
