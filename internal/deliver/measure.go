package deliver

import (
	"context"
	"log/slog"
	"time"

	"surehook/internal/gate"
	"surehook/internal/hook"
	"surehook/internal/metric"
	"surehook/internal/names"
	"surehook/internal/stats"
)

// result is what the attempt came to. Of a delivery that somebody else settled
// meanwhile it says only what the endpoint did.
func result(s subject, o hook.Outcome, recorded hook.Delivery, now time.Time) gate.Result {
	r := gate.Result{Attempt: stats.Attempt{Class: o.Class, Number: s.token.Attempt, Duration: o.Duration}, RetryAfter: o.RetryAfter}
	if recorded.Token == s.token.Nonce {
		r.State, r.Age = recorded.State, now.Sub(recorded.CreatedAt)
	}
	return r
}

// countDead counts a delivery that died without an attempt: those with one are
// counted by the gate. A count that is lost decides nothing.
func (d *Deliverer) countDead(ctx context.Context, s subject) {
	_, err := d.Store.Count(ctx, s.token.Tenant, s.token.Delivery.Endpoint, stats.Counts{Dead: 1}, d.Now())
	if err != nil {
		d.Log.ErrorContext(ctx, "delivery.not_counted",
			slog.String(names.LogDelivery, s.token.Delivery.String()), slog.Any(names.LogError, err))
	}
}

// measured is what an attempt adds to the metrics.
func measured(s subject, o hook.Outcome, recorded hook.Delivery) []metric.Metric {
	ms := append(ended(recorded),
		metric.Count(names.MetricAttempts, 1).By(metric.Outcome(o.Class), metric.Number(s.token.Attempt)),
		metric.Milliseconds(names.MetricAttemptTime, o.Duration),
	)
	if s.token.Attempt > 1 {
		ms = append(ms, metric.Count(names.MetricRetried, 1))
	}
	if recorded.State == hook.StateDelivered {
		ms = append(ms, metric.Milliseconds(names.MetricLatency, recorded.UpdatedAt.Sub(recorded.CreatedAt)))
	}
	return ms
}

// ended is what the state that a delivery came to adds to the metrics.
func ended(recorded hook.Delivery) []metric.Metric {
	switch recorded.State {
	case hook.StateDelivered:
		return []metric.Metric{metric.Count(names.MetricDelivered, 1)}
	case hook.StateDead:
		return []metric.Metric{metric.Count(names.MetricDead, 1)}
	case hook.StateParked:
		return []metric.Metric{metric.Count(names.MetricParked, 1)}
	case hook.StateQueued, hook.StateRetrying, hook.StateDiscarded, hook.StateCancelled:
	}
	return nil
}
