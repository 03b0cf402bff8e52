package status

import (
	"context"
	"fmt"
	"math"
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

// Health is the health of an endpoint.
type Health struct {
	Endpoint   hook.EndpointID       `json:"endpoint_id"`
	At         time.Time             `json:"at"`
	Status     hook.Status           `json:"status"`
	Condition  condition.Condition   `json:"condition"`
	Speed      string                `json:"speed"` // the speed class, which decides on the queue
	Slow       bool                  `json:"slow"`
	Fragile    bool                  `json:"fragile"`
	Warned     int                   `json:"warned"`  // percent
	Timeout    time.Duration         `json:"timeout"` // of the next attempt
	Limits     Limits                `json:"limits"`
	Circuit    endpoint.CircuitState `json:"circuit_state"`
	Deliveries Deliveries            `json:"deliveries"`
	Backlog    *drain.Forecast       `json:"backlog,omitzero"` // of the parked deliveries, and of the retrying ones while nothing leaves, in whole seconds; nil without any, or if the pace is not known
	backlog.Counted
	Windows Windows `json:"windows"`
}

// Limits holds the limits of an endpoint. Without a limit, its count is left out.
type Limits struct {
	RatePerSecond float64 `json:"rate_per_second"` // 0: no limit
	RateWaiting   *int    `json:"rate_waiting,omitzero"`
	MaxInFlight   int     `json:"max_in_flight"` // 0: no limit
	InFlight      *int    `json:"in_flight,omitzero"`
}

func limitsOf(s *endpoint.Status) Limits {
	l := Limits{RatePerSecond: s.Endpoint.RatePerSecond, MaxInFlight: s.Endpoint.MaxInFlight}
	if l.RatePerSecond > 0 {
		l.RateWaiting = &s.Reserved
	}
	if l.MaxInFlight > 0 {
		l.InFlight = &s.InFlight
	}
	return l
}

// Deliveries counts the deliveries of an endpoint.
type Deliveries struct {
	Queued    int                 `json:"queued_estimate"` // mean number over Windows.Hour
	Retrying  int                 `json:"retrying"`
	Parked    int                 `json:"parked"`
	Reasons   map[hook.Reason]int `json:"parked_by_reason"` // as in Waiting
	Dead      int                 `json:"dead"`             // of any age
	Delivered int                 `json:"delivered"`        // over Windows.Day
}

// Windows are the windows of a Health.
type Windows struct {
	Hour Window `json:"1h"`  // the current clock hour and the hour before
	Day  Window `json:"24h"` // the clock hours started in the last 24 hours
}

// Waiting counts the recorded, unsettled deliveries.
type Waiting struct {
	Retrying int                 `json:"retrying"`
	Parked   int                 `json:"parked"`
	Reasons  map[hook.Reason]int `json:"parked_by_reason"` // why the Parked ones wait now, which their endpoint decides: the sum is Parked

	// Deliveries that are lost if nothing changes, of endpoints whose pace is known, and when the
	// first of them is lost; zero for none. Retrying ones count while nothing leaves.
	AtRisk    int       `json:"at_risk"`
	FirstLoss time.Time `json:"first_loss_at,omitzero"`
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
	hours, err := r.Store.Hours(ctx, s.Endpoint.ID, judgedSince(now))
	if err != nil {
		return Health{}, fmt.Errorf("read hours of endpoint %s: %w", s.Endpoint.ID, err)
	}
	recent, day := review.Recent(hours, now), review.Day(hours, time.Time{}, now)
	counts, waiting, err := r.counts(ctx, &s, recent.Latency.Mean(), now)
	if f := counts.Forecast; f != nil {
		f.DrainsBy, f.FirstLoss = f.DrainsBy.Truncate(time.Second), f.FirstLoss.Truncate(time.Second)
	}
	flags := s.Gate.Review
	timeout := s.Endpoint.Timeout
	if flags.Timeout > 0 {
		timeout = min(timeout, flags.Timeout)
	}
	return Health{
		Endpoint: s.Endpoint.ID, At: now, Status: s.Endpoint.Status, Condition: judged(s.Endpoint, s.Gate, hours), Speed: s.Gate.SpeedAtNow(now).String(),
		Slow: flags.Slow, Fragile: flags.Fragile, Warned: flags.Warned, Timeout: timeout, Limits: limitsOf(&s), Circuit: s.Circuit(),
		Backlog: counts.Forecast, Counted: counts.Counted,
		Deliveries: Deliveries{
			Queued: int(math.Round(queuedIn(recent, now))), Retrying: waiting.Retrying, Parked: waiting.Parked, Reasons: waiting.Reasons,
			Dead: counts.Dead, Delivered: day.Delivered,
		},
		Windows: Windows{
			Hour: windowOf(review.RecentSince(now), &recent),
			Day:  windowOf(now.Add(-24*time.Hour+time.Hour-1).Truncate(time.Hour), &day),
		},
	}, err
}

// counts returns the numbers of waiting and dead deliveries of the endpoint.
func (r *Reader) counts(ctx context.Context, s *endpoint.Status, mean time.Duration, now time.Time) (c backlog.Counts, w Waiting, err error) {
	look, err := backlog.LookAt(ctx, r.Store, s.Endpoint.Widest())
	if err != nil {
		return c, w, err
	}
	c = look.Counts(backlog.Endpoint{Endpoint: s.Endpoint, Passes: s.Passes, Rate: s.Rate, Width: s.Width, Mean: mean}, s.Gate.Tally, now)
	w.Retrying, w.Parked = c.Retrying, c.Parked
	if c.Parked > 0 {
		w.Reasons = map[hook.Reason]int{reasonOf(s): c.Parked}
	}
	if c.Forecast != nil {
		w.AtRisk, w.FirstLoss = c.Forecast.AtRisk, c.Forecast.FirstLoss
	}
	return c, w, nil
}

// reasonOf returns why parked deliveries of the endpoint wait now. The reasons in their records are
// from the moment when they were parked.
func reasonOf(s *endpoint.Status) hook.Reason {
	switch {
	case s.Endpoint.Status == hook.StatusPaused:
		return hook.ReasonPaused
	case s.Endpoint.Status == hook.StatusDisabled:
		return hook.ReasonDisabled
	case s.Endpoint.Status == 0:
		return hook.ReasonDeleted
	case s.Gate.State != circuit.Closed:
		return hook.ReasonCircuit
	case !s.Gate.ThrottledUntil.IsZero():
		return hook.ReasonThrottled
	case s.Rate > 0:
		return hook.ReasonRate
	}
	return hook.ReasonInFlight
}

// queuedIn returns the mean number of queued deliveries over the hours of review.Recent. By
// Little's law it is the sum of all waits in a span, divided by the span.
func queuedIn(recent stats.Counts, now time.Time) float64 {
	return recent.Queued.Seconds() / now.Sub(review.RecentSince(now)).Seconds()
}
