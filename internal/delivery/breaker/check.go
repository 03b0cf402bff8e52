package breaker

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// nextHops returns the hops of the next check. A check that released or ended a delivery made
// progress, so the count starts again, and a release of any size stays below MaxHops.
func (r *reconciliation) nextHops() int {
	if r.released+r.expired+r.cancelled > 0 {
		return 0
	}
	return r.check.Hops + 1
}

// checkAgain enqueues the same check again. After a fault of a delivery it does nothing, because
// the message of the failed check comes again, and each repeat would add another message. If that
// message is lost, the tick checks the endpoint within AttendAfter.
func (r *reconciliation) checkAgain(ctx context.Context, wave int, delay time.Duration) error {
	if len(r.faults) > 0 {
		return nil
	}
	return r.enqueueCheck(ctx, wave, delay)
}

func (r *reconciliation) enqueueCheck(ctx context.Context, wave int, delay time.Duration) error {
	next := hook.CircuitCheck{Tenant: r.check.Tenant, Endpoint: r.check.Endpoint, Wave: wave, Hops: r.nextHops()}
	if next.Hops >= hook.MaxHops {
		settle.LogCircling(ctx, r.Log, r.Metrics, r.Now(), "circuit_check.circling", next.Hops,
			slog.String(names.LogTenant, string(next.Tenant)),
			slog.String(names.LogEndpoint, string(next.Endpoint)),
			slog.String(names.LogDecision, r.decision),
			slog.Int(names.LogWave, next.Wave))
	}
	if err := r.CircuitQueue.Enqueue(ctx, next, delay); err != nil {
		return fmt.Errorf("enqueue next circuit check: %w", err)
	}
	return nil
}

func (r *reconciliation) logReconciliation(ctx context.Context, err error) {
	settle.LogRun(ctx, r.Log, "circuit.reconciled", err, r.Metrics.Append([]slog.Attr{
		slog.String(names.LogTenant, string(r.check.Tenant)),
		slog.String(names.LogEndpoint, string(r.check.Endpoint)),
		slog.String(names.LogCircuit, r.record.State.String()),
		slog.String(names.LogDecision, r.decision),
		slog.Int(names.LogWave, r.check.Wave),
		slog.Int(names.LogReleased, r.released),
		slog.Int(names.LogExpired, r.expired),
		slog.Int(names.LogCancelled, r.cancelled),
	}, r.Now(), emf.Count(names.MetricDead, r.expired))...)
}
