package status

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/condition"
	"surehook.example/surehook/internal/rule/drain"
	"surehook.example/surehook/internal/rule/review"
	"surehook.example/surehook/internal/rule/stats"
)

// Limits of one count.
const (
	countTimeout     = 10 * time.Second // well below the 30 s limit of an HTTP API
	countConcurrency = 16
)

// errCountTimeout is the cause of a count that ends early.
var errCountTimeout = errors.New("counting deliveries took too long")

// Window holds the counts of whole clock hours, the current hour included.
type Window struct {
	Since time.Time // start of the first hour
	stats.Counts
}

// Health is the health of an endpoint.
type Health struct {
	Status    endpoint.Status
	At        time.Time
	Condition condition.Condition
	Hour      Window // the current clock hour and the hour before
	Day       Window // the clock hours started in the last 24 hours
	Waiting   Waiting
	Queued    float64         // mean number of queued deliveries over Hour
	Dead      int             // dead deliveries of any age
	Backlog   *drain.Forecast // of the parked deliveries, and of the retrying ones while nothing leaves; nil without any, or if the pace is not known
	Complete  bool            // false after a timeout: Waiting, Dead and Backlog.AtRisk are lower bounds
}

// maxOldest bounds the parked deliveries of an endpoint that are read: one page of the index. The
// others are counted.
const maxOldest = 100

// Waiting counts the recorded, unsettled deliveries.
type Waiting struct {
	Retrying int
	Parked   int
	Reasons  map[hook.Reason]int // why the Parked ones wait now, which their endpoint decides: the sum is Parked

	// Deliveries that are lost if nothing changes, of endpoints whose pace is known, and when the
	// first of them is lost; zero for none. Retrying ones count while nothing leaves.
	AtRisk    int
	FirstLoss time.Time
}

func (w *Waiting) add(other Waiting) {
	w.Retrying += other.Retrying
	w.Parked += other.Parked
	w.AtRisk += other.AtRisk
	w.FirstLoss = earlier(w.FirstLoss, other.FirstLoss)
	for reason, n := range other.Reasons {
		if w.Reasons == nil {
			w.Reasons = make(map[hook.Reason]int)
		}
		w.Reasons[reason] += n
	}
}

// Health returns the health of the tenant's endpoint with ref as the id or the
// uid; CodeNotFound if none exists. The index of deliveries may lag by a moment.
//
// A parked delivery is counted once, and one request reads the oldest ones. If there are more than
// maxOldest at a known pace, Health makes a request per shard for the newest, and counts in
// backlogSlices spans, each with one request per shard and page.
func (r *Reader) Health(ctx context.Context, tenant hook.TenantID, ref string) (Health, error) {
	s, err := r.Endpoints.Status(ctx, tenant, ref)
	if err != nil {
		return Health{}, fmt.Errorf("find endpoint: %w", err)
	}
	now := r.now()
	hours, err := r.Stats.Hours(ctx, s.Endpoint.ID, judgedSince(now))
	if err != nil {
		return Health{}, fmt.Errorf("read hours of endpoint %s: %w", s.Endpoint.ID, err)
	}
	h := healthOf(s, hours, now)
	h.Complete, err = r.counting(ctx, countTimeout, func(ctx context.Context, group *errgroup.Group) {
		group.Go(func() (err error) {
			h.Waiting, _, h.Backlog, err = r.waiting(ctx, &s, h.Hour.Latency.Mean(), now)
			return err
		})
		group.Go(func() (err error) {
			h.Dead, err = r.count(ctx, s.Endpoint.Widest(), hook.StateDead)
			return err
		})
	})
	return h, err
}

// waiting counts the waiting deliveries of the endpoint, foretells which of them are lost, and
// returns the oldest one; zero without one. With an error, the counts are those so far.
func (r *Reader) waiting(ctx context.Context, s *endpoint.Status, mean time.Duration, now time.Time) (found Waiting, oldest hook.Delivery, backlog *drain.Forecast, err error) {
	target := s.Endpoint.Widest()
	pace, paced := paceOf(s, mean)
	var parked parkedCount
	group, grouped := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		found.Retrying, oldest, err = r.retrying(grouped, target)
		return err
	})
	group.Go(func() (err error) {
		parked, err = r.backlog(grouped, target, paced && pace > 0)
		return err
	})
	err = group.Wait()
	if found.Parked = parked.n; parked.n > 0 {
		found.Reasons = map[hook.Reason]int{reasonOf(s): parked.n}
	}
	if paced && parked.n+found.Retrying > 0 {
		f := drain.Of(parked.slices, s.Endpoint.MaxAge, pace, now)
		if pace == 0 && !oldest.CreatedAt.IsZero() { // they are parked when their attempts are due
			f.AtRisk, f.FirstLoss = f.AtRisk+found.Retrying, earlier(f.FirstLoss, oldest.CreatedAt.Add(s.Endpoint.MaxAge))
		}
		found.AtRisk, found.FirstLoss = f.AtRisk, f.FirstLoss
		if parked.n > 0 || f.AtRisk > 0 {
			backlog = &f
		}
	}
	return found, older(oldest, parked.oldest), backlog, err
}

// retrying counts the retrying deliveries, and returns the oldest one; zero without one.
func (r *Reader) retrying(ctx context.Context, target hook.Target) (n int, oldest hook.Delivery, err error) {
	if n, err = r.count(ctx, target, hook.StateRetrying); err != nil || n == 0 {
		return n, oldest, err
	}
	first, _, err := r.Index.Select(ctx, replay.Selection{Target: target, State: hook.StateRetrying, Limit: 1})
	if err != nil {
		return n, oldest, fmt.Errorf("find oldest retrying delivery of endpoint %s: %w", target.Endpoint, err)
	}
	for _, d := range first {
		oldest = d
	}
	return n, oldest, nil
}

// earlier returns the earlier of two times; a zero time is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// queuedIn returns the mean number of queued deliveries over the hours of review.Recent. By
// Little's law it is the sum of all waits in a span, divided by the span.
func queuedIn(recent stats.Counts, now time.Time) float64 {
	return recent.Queued.Seconds() / now.Sub(review.RecentSince(now)).Seconds()
}

// healthOf aggregates the hourly counts into the windows of the last hour and day.
func healthOf(s endpoint.Status, hours []stats.Hour, now time.Time) Health {
	recent := review.Recent(hours, now)
	return Health{
		Queued:    queuedIn(recent, now),
		Status:    s,
		At:        now,
		Condition: judged(s.Endpoint, s.Gate, hours),
		Hour:      Window{Since: review.RecentSince(now), Counts: recent},
		Day:       Window{Since: now.Add(-24*time.Hour + time.Hour - 1).Truncate(time.Hour), Counts: review.Day(hours, time.Time{}, now)},
	}
}

// counting runs the functions added by work, countConcurrency at a time, for at
// most the limit. complete is false after the limit: some functions then ended early or
// did not run.
func (r *Reader) counting(
	ctx context.Context, limit time.Duration, work func(ctx context.Context, group *errgroup.Group),
) (complete bool, err error) {
	bounded, cancel := context.WithTimeoutCause(ctx, limit, errCountTimeout)
	defer cancel()

	group, grouped := errgroup.WithContext(bounded)
	group.SetLimit(countConcurrency)
	work(grouped, group)
	if err := group.Wait(); err != nil && context.Cause(bounded) != errCountTimeout { //nolint:errorlint // context.Cause returns the cause itself
		return false, err
	} else if err != nil {
		return false, nil
	}
	return true, nil
}

// count returns the number of the endpoint's deliveries in the state. With an
// error the number is the count so far.
func (r *Reader) count(ctx context.Context, target hook.Target, state hook.State) (int, error) {
	n, err := r.Index.CountSelected(ctx, replay.Selection{Target: target, State: state})
	if err != nil {
		return n, fmt.Errorf("count %s deliveries of endpoint %s: %w", state, target.Endpoint, err)
	}
	return n, nil
}
