package breaker

import (
	"context"
	"log/slog"

	"surehook/internal/emf"
	"surehook/internal/hook"
	"surehook/internal/names"
)

// nextHops returns the hops of the next check of the chain. A check that released or
// ended a delivery begins the count anew, so a release or an ending of any size stays
// below the bound.
func (r *reconciliation) nextHops() int {
	if r.released+r.expired+r.cancelled > 0 {
		return 0
	}
	return r.check.Hops + 1
}

// logCircling counts a check sent on hook.MaxHops times or more.
func (r *reconciliation) logCircling(ctx context.Context, c hook.CircuitCheck) {
	if c.Hops < hook.MaxHops {
		return
	}
	line := []slog.Attr{
		slog.String(names.LogTenant, string(c.Tenant)),
		slog.String(names.LogEndpoint, string(c.Endpoint)),
		slog.String(names.LogDecision, r.decision),
		slog.Int(names.LogWave, c.Wave),
		slog.Int(names.LogHops, c.Hops),
	}
	r.Log.LogAttrs(ctx, slog.LevelWarn, "circuit_check.circling", r.Metrics.Append(line, r.Now(), emf.Count(names.MetricSentOn, 1))...)
}
