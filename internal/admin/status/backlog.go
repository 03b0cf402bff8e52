package status

import (
	"context"
	"fmt"
	"math"
	"time"

	"golang.org/x/sync/errgroup"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/drain"
)

// backlogSlices is the number of equal spans in which a long backlog is counted.
const backlogSlices = 8

// paceOf returns how many parked deliveries the endpoint's limits let leave per second: none while
// it is paused, disabled or throttled, or its circuit is not closed. known is false without a
// limit, for slots without a mean time of recent answers, and for a coalescing endpoint, whose
// limits are of requests with any number of deliveries.
func paceOf(s *endpoint.Status, mean time.Duration) (perSecond float64, known bool) {
	if s.Admits == 0 {
		return 0, true
	}
	if s.Endpoint.Coalesce.On() {
		return 0, false
	}
	perSecond = math.Inf(1)
	if s.Endpoint.RatePerSecond > 0 {
		perSecond = s.Endpoint.RatePerSecond
	}
	if s.Width > 0 && mean > 0 {
		perSecond = min(perSecond, float64(s.Width)/mean.Seconds())
	}
	return perSecond, !math.IsInf(perSecond, 1)
}

// reasonOf returns why parked deliveries of the endpoint wait now. The reasons in their records are
// from the moment when they were parked.
func reasonOf(s *endpoint.Status) hook.Reason {
	switch s.Endpoint.Status {
	case hook.StatusPaused:
		return hook.ReasonPaused
	case hook.StatusDisabled:
		return hook.ReasonDisabled
	case hook.StatusActive:
	}
	switch {
	case s.Endpoint.Status == 0:
		return hook.ReasonDeleted
	case s.Gate.State != circuit.Closed:
		return hook.ReasonCircuit
	case !s.Gate.ThrottledUntil.IsZero():
		return hook.ReasonThrottled
	case s.Admits < 1:
		return hook.ReasonFailureRate
	case s.Endpoint.RatePerSecond > 0:
		return hook.ReasonRate
	}
	return hook.ReasonInFlight
}

// parkedCount is a count of the parked deliveries of an endpoint.
type parkedCount struct {
	n      int
	oldest hook.Delivery // zero without any
	slices []drain.Slice // by age, the oldest delivery alone
}

// backlog counts the parked deliveries. A long backlog has slices by age only if it is asked for, else
// one. With an error, the counts are those so far.
func (r *Reader) backlog(ctx context.Context, target hook.Target, byAge bool) (c parkedCount, err error) {
	oldest, next, err := r.Index.Select(ctx, replay.Selection{Target: target, State: hook.StateParked, Limit: maxOldest})
	if err != nil {
		return c, fmt.Errorf("find oldest parked deliveries of endpoint %s: %w", target.Endpoint, err)
	}
	c.n = len(oldest)
	for _, d := range oldest {
		c.slices = append(c.slices, drain.Slice{Newest: d.CreatedAt, N: 1})
	}
	if len(oldest) > 0 {
		c.oldest = oldest[0]
	}
	switch {
	case next == "":
		return c, nil
	case len(oldest) == 0:
		c.n, err = r.count(ctx, target, hook.StateParked)
		return c, err
	}
	newest, spans := r.now(), 1
	if byAge {
		spans = backlogSlices
		if newest, err = r.newestParked(ctx, target); err != nil {
			return c, err
		}
	}
	counted, err := r.countSpans(ctx, target, c.oldest.CreatedAt, newest, spans)
	counted[0].N = max(counted[0].N-1, 0)
	c.slices, c.n = append(c.slices[:1:1], counted...), 0
	for _, s := range c.slices {
		c.n += s.N
	}
	return c, err
}

// newestParked returns when the newest parked delivery was created; zero without one.
func (r *Reader) newestParked(ctx context.Context, target hook.Target) (newest time.Time, err error) {
	for shard := range target.Shards {
		rows, _, err := r.Lists.DeliveryRows(ctx, Part{Endpoint: target.Endpoint, Shard: shard, State: hook.StateParked}, Span{}, 1)
		if err != nil {
			return time.Time{}, fmt.Errorf("find newest parked delivery of endpoint %s: %w", target.Endpoint, err)
		}
		if len(rows) > 0 && rows[0].Time().After(newest) {
			newest = rows[0].Time()
		}
	}
	return newest, nil
}

// countSpans counts the parked deliveries in equal spans from the oldest to the newest. The last
// span has no end, so that all are counted.
func (r *Reader) countSpans(ctx context.Context, target hook.Target, from, newest time.Time, spans int) ([]drain.Slice, error) {
	counted := make([]drain.Slice, spans)
	group, ctx := errgroup.WithContext(ctx)
	for i := range counted {
		end := func(i int) time.Time {
			return from.Add(newest.Sub(from) / time.Duration(spans) * time.Duration(i)).Truncate(time.Millisecond)
		}
		s := replay.Selection{Target: target, State: hook.StateParked}
		if i > 0 {
			s.From = end(i)
		}
		counted[i].Newest = newest
		if i < spans-1 {
			s.To = end(i + 1)
			counted[i].Newest = s.To
		}
		group.Go(func() (err error) {
			if counted[i].N, err = r.Index.CountSelected(ctx, s); err != nil {
				return fmt.Errorf("count parked deliveries of endpoint %s: %w", target.Endpoint, err)
			}
			return nil
		})
	}
	return counted, group.Wait()
}
