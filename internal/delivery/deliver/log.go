package deliver

import (
	"context"
	"log/slog"
	"time"

	"surehook.example/surehook/internal/delivery/attempt"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// The linter of log lines wants constants of the package.
const (
	lineAttempted = names.LineAttempted
	lineDecided   = names.LineDecided
)

func (d *Deliverer) logAttempted(ctx context.Context, s *subject, o *hook.Outcome, recorded *hook.Delivery, now time.Time) {
	if !d.Log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	var room [maxAttrs]slog.Attr
	attrs := append(attempt.Attrs(room[:0], s),
		slog.String(names.LogOutcome, o.Class.String()),
		slog.Int(names.LogStatus, o.Status),
		slog.Int64(names.LogDuration, o.Duration.Milliseconds()),
		slog.Int64(names.LogLatency, now.Sub(s.Delivery.CreatedAt).Milliseconds()),
	)
	if o.Region != "" {
		attrs = append(attrs, slog.String(names.LogRegion, o.Region))
	}
	if o.Class != hook.ClassDelivered || recorded.State != hook.StateDelivered { // otherwise the outcome says it all
		attrs = settle.AppendDecision(attrs, recorded)
	}
	d.Log.LogAttrs(ctx, slog.LevelInfo, lineAttempted, attrs...)
}

func (d *Deliverer) logDecided(ctx context.Context, s *subject, recorded *hook.Delivery) {
	var room [maxAttrs]slog.Attr
	d.Log.LogAttrs(ctx, slog.LevelInfo, lineDecided, settle.AppendDecision(attempt.Attrs(room[:0], s), recorded)...)
}

func (d *Deliverer) logDropped(ctx context.Context, t hook.Task, reason string) {
	d.Log.LogAttrs(ctx, slog.LevelInfo, "task.dropped",
		slog.String(names.LogDelivery, t.Delivery.String()),
		slog.Int(names.LogAttempt, t.Attempt),
		slog.String(names.LogReason, reason))
}

// logDone logs the error, if any, of giving back what tasks held: the deliveries are settled.
func (d *Deliverer) logDone(ctx context.Context, id hook.EndpointID, err error) {
	if err != nil {
		d.Log.ErrorContext(ctx, "gate.done_failed", slog.String(names.LogEndpoint, string(id)), slog.Any(names.LogError, err))
	}
}

// maxAttrs is a sufficient capacity for the attributes of an attempt.
const maxAttrs = 16

// logMetrics writes the metrics of a batch: one line with the totals and the first class of
// attempts, and one line for each further class. Most batches have one.
func (d *Deliverer) logMetrics(ctx context.Context, jobs []*job) {
	if d.Metrics.Environment == "" || len(jobs) == 0 {
		return
	}
	var (
		classes         = make(map[hook.Class]int)
		states          = make(map[hook.State]int)
		took, latencies []time.Duration
		retried         int
	)
	for _, j := range jobs {
		r := j.result
		if r.Class == 0 && r.State == 0 {
			continue
		}
		states[r.State]++
		if r.Class == 0 {
			continue
		}
		if r.State == hook.StateDelivered {
			latencies = append(latencies, r.Age)
		}
		if r.WithLeader {
			continue
		}
		classes[r.Class]++
		took = append(took, r.Duration)
		if r.Number > 1 {
			retried++
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
	for class, n := range classes {
		ms = append(ms, emf.Count(names.MetricAttempts, n).By(emf.Outcome(class)))
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
