package breaker

import (
	"context"
	"errors"
	"time"

	"surehook.example/surehook/internal/delivery/backlog"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/drain"
	"surehook.example/surehook/internal/rule/review"
	"surehook.example/surehook/internal/rule/stats"
)

// countTimeout bounds the count of one endpoint's waiting deliveries: well below reserve.
const countTimeout = 5 * time.Second

var errCountTimeout = errors.New("counting waiting deliveries took too long")

// forecast foretells what becomes of the endpoint's waiting deliveries. It asks the index only if
// deliveries are parked. After countTimeout the number at risk is a lower bound.
func (r *reviewRun) forecast(ctx context.Context, e hook.Endpoint, record admission.Record, hours []stats.Hour) (drain.Forecast, error) {
	if !record.HasParked() {
		return drain.Forecast{}, nil
	}
	recent := review.Recent(hours, r.now)
	of := backlog.Endpoint{Endpoint: e, Admits: record.AdmitsNow(&e, r.now), Mean: recent.Latency.Mean()}
	if width := record.Width(&e, r.now); width > 0 {
		limits, err := r.Store.Limits(ctx, e.ID)
		if err != nil {
			return drain.Forecast{}, err
		}
		of.Width = record.SlotsNow(limits, width, r.now)
	}
	bounded, cancel := context.WithTimeoutCause(ctx, countTimeout, errCountTimeout)
	defer cancel()
	counts, err := backlog.Count(bounded, r.Store, of, r.now)
	if err != nil && context.Cause(bounded) != errCountTimeout { //nolint:errorlint // context.Cause returns the cause itself
		return drain.Forecast{}, err
	}
	if counts.Forecast == nil {
		return drain.Forecast{}, nil
	}
	return *counts.Forecast, nil
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
