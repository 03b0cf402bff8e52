package status

import (
	"context"
)

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
