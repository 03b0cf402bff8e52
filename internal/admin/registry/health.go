package registry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"surehook/internal/delivery/replay"
	"surehook/internal/hook"
	"surehook/internal/rule/review"
	"surehook/internal/rule/stats"
)

// Bounds of counting deliveries for one answer.
const (
	countFor    = 10 * time.Second // far less than an HTTP API waits
	countAtOnce = 16
)

// errCountedEnough ends counting that takes too long.
var errCountedEnough = errors.New("counting deliveries took too long")

// Window is what was counted in whole hours of the clock, the one under way included.
type Window struct {
	Since time.Time // when the first of them began
	stats.Counts
}

// Health is how an endpoint does.
type Health struct {
	Standing EndpointStatus
	At       time.Time
	Hour     Window // the hour of the clock under way and the one before
	Day      Window // the hours that began in the last 24
	Waiting  Waiting
	Dead     int  // dead deliveries, whenever they died
	Complete bool // false: there are more of Waiting and Dead than could be counted in time
}

// Waiting is how many deliveries are not settled and have a record.
type Waiting struct {
	Retrying int
	Parked   int
}

// Health returns how the tenant's endpoint that ref names does. Deliveries are
// counted by an index that may lag a moment.
func (r *Registry) Health(ctx context.Context, tenant hook.TenantID, ref string) (Health, error) {
	s, err := r.EndpointStatus(ctx, tenant, ref)
	if err != nil {
		return Health{}, err
	}
	now := r.now()
	hours, err := r.Stats.Hours(ctx, s.Endpoint.ID, now.Add(-24*time.Hour))
	if err != nil {
		return Health{}, fmt.Errorf("read hours of endpoint %s: %w", s.Endpoint.ID, err)
	}
	h := healthOf(s, hours, now)
	h.Complete, err = r.counting(ctx, func(ctx context.Context, group *errgroup.Group) {
		for state, n := range map[hook.State]*int{
			hook.StateRetrying: &h.Waiting.Retrying, hook.StateParked: &h.Waiting.Parked, hook.StateDead: &h.Dead,
		} {
			group.Go(func() (err error) {
				*n, err = r.count(ctx, s.Endpoint.ID, state)
				return err
			})
		}
	})
	return h, err
}

// healthOf makes of what was counted what it comes to.
func healthOf(s EndpointStatus, hours []stats.Hour, now time.Time) Health {
	return Health{
		Standing: s,
		At:       now,
		Hour:     Window{Since: review.RecentSince(now), Counts: review.Recent(hours, now)},
		Day:      Window{Since: now.Add(-24*time.Hour + time.Hour - 1).Truncate(time.Hour), Counts: review.Day(hours, time.Time{}, now)},
	}
}

// counting does what work puts into the group, countAtOnce at a time, for as long
// as countFor. complete is false when that was not enough: then some of it was
// not done, or not to its end.
func (r *Registry) counting(
	ctx context.Context, work func(ctx context.Context, group *errgroup.Group),
) (complete bool, err error) {
	bounded, cancel := context.WithTimeoutCause(ctx, countFor, errCountedEnough)
	defer cancel()

	group, grouped := errgroup.WithContext(bounded)
	group.SetLimit(countAtOnce)
	work(grouped, group)
	if err := group.Wait(); err != nil && context.Cause(bounded) != errCountedEnough { //nolint:errorlint // it is that very one
		return false, err //nolint:wrapcheck // the work says what it was
	} else if err != nil {
		return false, nil
	}
	return true, nil
}

// count returns how many deliveries of the endpoint are in the state. With an
// error it may return how many it had counted.
func (r *Registry) count(ctx context.Context, endpoint hook.EndpointID, state hook.State) (int, error) {
	n, err := r.Index.CountSelected(ctx, replay.Selection{Endpoint: endpoint, State: state})
	if err != nil {
		return n, fmt.Errorf("count %s deliveries of endpoint %s: %w", state, endpoint, err)
	}
	return n, nil
}
