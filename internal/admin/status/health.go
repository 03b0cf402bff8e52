package status

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/delivery/backlog"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
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
	w.FirstLoss = backlog.Earlier(w.FirstLoss, other.FirstLoss)
	for reason, n := range other.Reasons {
		if w.Reasons == nil {
			w.Reasons = make(map[hook.Reason]int)
		}
		w.Reasons[reason] += n
	}
}

// Health returns the health of the tenant's endpoint with ref as the id or the
// uid; CodeNotFound if none exists. The index of deliveries may lag by a moment.
// See backlog.Count for the requests.
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
func (r *Reader) waiting(ctx context.Context, s *endpoint.Status, mean time.Duration, now time.Time) (found Waiting, oldest hook.Delivery, f *drain.Forecast, err error) {
	c, err := backlog.Count(ctx, r.Index, backlog.Endpoint{Endpoint: s.Endpoint, Admits: s.Admits, Width: s.Width, Mean: mean}, now)
	found = Waiting{Retrying: c.Retrying, Parked: c.Parked}
	if c.Parked > 0 {
		found.Reasons = map[hook.Reason]int{reasonOf(s): c.Parked}
	}
	if c.Forecast != nil {
		found.AtRisk, found.FirstLoss = c.Forecast.AtRisk, c.Forecast.FirstLoss
	}
	return found, c.Oldest, c.Forecast, err
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
