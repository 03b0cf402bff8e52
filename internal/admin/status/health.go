package status

import (
	"context"
	"fmt"
	"time"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/delivery/backlog"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/condition"
	"surehook.example/surehook/internal/rule/drain"
	"surehook.example/surehook/internal/rule/review"
	"surehook.example/surehook/internal/rule/stats"
)

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
	backlog.Counted
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
// See backlog.LookAt for the requests to count.
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
	counts, err := r.counts(ctx, &s, h.Hour.Latency.Mean(), now)
	h.Waiting, h.Dead, h.Backlog, h.Counted = waitingOf(counts, &s), counts.Dead, counts.Forecast, counts.Counted
	return h, err
}

// counts returns the numbers of waiting and dead deliveries of the endpoint.
func (r *Reader) counts(ctx context.Context, s *endpoint.Status, mean time.Duration, now time.Time) (backlog.Counts, error) {
	look, err := backlog.LookAt(ctx, r.Index, s.Endpoint.Widest())
	if err != nil {
		return backlog.Counts{}, err
	}
	return look.Counts(backlog.Endpoint{Endpoint: s.Endpoint, Admits: s.Admits, Width: s.Width, Mean: mean}, s.Gate.Tally, now), nil
}

func waitingOf(c backlog.Counts, s *endpoint.Status) Waiting {
	w := Waiting{Retrying: c.Retrying, Parked: c.Parked}
	if c.Parked > 0 {
		w.Reasons = map[hook.Reason]int{reasonOf(s): c.Parked}
	}
	if c.Forecast != nil {
		w.AtRisk, w.FirstLoss = c.Forecast.AtRisk, c.Forecast.FirstLoss
	}
	return w
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
