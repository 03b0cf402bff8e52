package deliver

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"surehook/internal/delivery/gate"
	"surehook/internal/emf"
	"surehook/internal/hook"
	"surehook/internal/names"
	"surehook/internal/rule/stats"
)

// resultOf is what the attempt came to. Of a delivery that somebody else settled
// meanwhile it says only what the endpoint did.
func resultOf(s *subject, o hook.Outcome, recorded hook.Delivery, now time.Time) gate.Result {
	r := gate.Result{Attempt: stats.Attempt{Class: o.Class, Number: s.token.Attempt, Duration: o.Duration}, RetryAfter: o.RetryAfter}
	if recorded.Token == s.token.Nonce {
		r.State, r.Age = recorded.State, now.Sub(recorded.CreatedAt)
	}
	return r
}

// countDead counts a delivery that died without an attempt: those with one are
// counted by the gate. A count that is lost decides nothing.
func (d *Deliverer) countDead(ctx context.Context, s *subject) {
	_, err := d.Store.Count(ctx, s.token.Tenant, s.token.Delivery.Endpoint, stats.Counts{Dead: 1}, d.Now())
	if err != nil {
		d.Log.ErrorContext(ctx, "delivery.count_failed",
			slog.String(names.LogDelivery, s.token.Delivery.String()), slog.Any(names.LogError, err))
	}
}

// results is what came of the deliveries of a batch, as they end.
type results struct {
	mu      sync.Mutex
	results []gate.Result
}

func (w *results) add(results ...gate.Result) {
	w.mu.Lock()
	defer w.mu.Unlock()

	for _, r := range results {
		if r.Class != 0 || r.State != 0 {
			w.results = append(w.results, r)
		}
	}
}

// attempts returns those that made a request.
func (w *results) attempts() []gate.Result {
	return slices.DeleteFunc(slices.Clone(w.results), func(r gate.Result) bool { return r.Class == 0 })
}

// logMetrics writes the metrics of a batch: a line for all, and one for each kind
// of attempt that there was, of which there is mostly one.
func (d *Deliverer) logMetrics(ctx context.Context, results []gate.Result) {
	if d.Metrics.Environment == "" || len(results) == 0 {
		return
	}
	type kind struct {
		class  hook.Class
		number int
	}
	var (
		kinds           = make(map[kind]int)
		states          = make(map[hook.State]int)
		took, latencies []time.Duration
		retried         int
	)
	for _, r := range results {
		states[r.State]++
		if r.Class == 0 {
			continue
		}
		kinds[kind{r.Class, r.Number}]++
		took = append(took, r.Duration)
		if r.Number > 1 {
			retried++
		}
		if r.State == hook.StateDelivered {
			latencies = append(latencies, r.Age)
		}
	}
	ms := []emf.Metric{
		emf.Count(names.MetricDelivered, states[hook.StateDelivered]),
		emf.Count(names.MetricDead, states[hook.StateDead]),
		emf.Count(names.MetricParked, states[hook.StateParked]),
		emf.Count(names.MetricRetried, retried),
		emf.Milliseconds(names.MetricAttemptTime, took...),
		emf.Milliseconds(names.MetricLatency, latencies...),
	}
	for k, n := range kinds {
		ms = append(ms, emf.Count(names.MetricAttempts, n).By(emf.Outcome(k.class), emf.Number(k.number)))
		d.writeMetrics(ctx, ms)
		ms = nil
	}
	d.writeMetrics(ctx, ms)
}

func (d *Deliverer) writeMetrics(ctx context.Context, ms []emf.Metric) {
	if line := d.Metrics.Append(nil, d.Now(), ms...); len(line) > 0 {
		d.Log.LogAttrs(ctx, slog.LevelInfo, "batch.measured", line...)
	}
}
