package breaker

import (
	"context"
	"time"

	"surehook.example/surehook/internal/delivery/backlog"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/drain"
	"surehook.example/surehook/internal/rule/review"
	"surehook.example/surehook/internal/rule/stats"
)

const (
	// countTimeout bounds the count of all of an endpoint's waiting and dead deliveries: well below reserve.
	countTimeout = 5 * time.Second
	// countMany is how many of them are counted only once an hour.
	countMany = 100_000
)

// survey is what a review sees of the deliveries of an endpoint.
type survey struct {
	done  bool
	look  backlog.Look
	tally drain.Tally
}

// survey looks at the deliveries of an endpoint with parked ones or with failures, once. If the look
// does not show all, it counts them, unless they were counted a while ago.
func (r *reviewRun) survey(ctx context.Context, s *survey, e hook.Endpoint, record admission.Record, hours []stats.Hour) (err error) {
	sum := stats.Sum(hours, time.Time{})
	if failed := sum.Attempts() > sum.Classes[hook.ClassDelivered]; s.done || !failed && !record.HasParked() && record.Tally.At.IsZero() {
		return nil
	}
	if s.look, err = backlog.LookAt(ctx, r.Store, e.Widest()); err != nil {
		return err
	}
	if s.done = true; s.look.Whole() {
		return nil
	}
	if s.tally = record.Tally; r.now.Sub(s.tally.At) < countEvery(s.tally) {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	s.tally, err = s.look.Count(bounded, r.Store, e.Widest(), r.now)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		s.tally.Partial, err = true, nil
	}
	return err
}

// countEvery returns how long a tally stands. Reviews do not come to the second.
func countEvery(t drain.Tally) time.Duration {
	if t.Total() > countMany {
		return time.Hour - review.Every/2
	}
	return review.Every / 2
}

// forecast foretells what becomes of the endpoint's waiting deliveries.
func (r *reviewRun) forecast(ctx context.Context, e hook.Endpoint, record admission.Record, hours []stats.Hour, s *survey) (drain.Forecast, error) {
	if !record.HasParked() {
		return drain.Forecast{}, nil
	}
	recent := review.Recent(hours, r.now)
	of := backlog.Endpoint{Endpoint: e, Passes: record.Passes(&e, r.now), Rate: record.RateNow(&e, r.now), Mean: recent.Latency.Mean()}
	if width := record.Width(&e, r.now); width > 0 {
		limits, err := r.Store.Limits(ctx, e.ID)
		if err != nil {
			return drain.Forecast{}, err
		}
		of.Width = record.SlotsNow(limits, width, r.now)
	}
	if f := s.look.Counts(of, s.tally, r.now).Forecast; f != nil {
		return *f, nil
	}
	return drain.Forecast{}, nil
}

// reviewQuiet reviews the endpoint of a check with parked deliveries, if it has no attempts for so
// long that no review finds it: it rests, or its next probe is far.
func (r *reconciliation) reviewQuiet(ctx context.Context) error {
	far := r.step.decision == decideAwait && r.record.NextProbe().Sub(r.now) > maxRest
	if !far && r.step.decision != decideRest {
		return nil
	}
	review := reviewRun{Breaker: r.Breaker, now: r.now}
	return review.reviewEndpoint(ctx, r.check)
}
