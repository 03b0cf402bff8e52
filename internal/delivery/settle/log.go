package settle

import (
	"context"
	"log/slog"
	"time"

	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// Attrs are the attributes of log lines that name the delivery.
func Attrs(d hook.Delivery) []slog.Attr {
	return []slog.Attr{
		slog.String(names.LogTenant, string(d.Tenant)),
		slog.String(names.LogEvent, string(d.ID.Event)),
		slog.String(names.LogEventType, d.EventType),
		slog.String(names.LogEndpoint, string(d.ID.Endpoint)),
		slog.String(names.LogDelivery, d.ID.String()),
	}
}

// AppendDecision appends what was decided about the delivery. The saved queries count deaths by it.
func AppendDecision(attrs []slog.Attr, recorded *hook.Delivery) []slog.Attr {
	attrs = append(attrs, slog.String(names.LogDecision, recorded.State.String()))
	if recorded.Reason != hook.ReasonNone {
		attrs = append(attrs, slog.String(names.LogReason, string(recorded.Reason)))
	}
	if !recorded.NextAttemptAt.IsZero() {
		attrs = append(attrs, slog.Time(names.LogNext, recorded.NextAttemptAt))
	}
	return attrs
}

// LogCircling logs and counts a message that was sent on hook.MaxHops times or more. attrs name the
// message.
func LogCircling(ctx context.Context, log *slog.Logger, metrics emf.Set, now time.Time, line string, hops int, attrs ...slog.Attr) {
	attrs = append(attrs, slog.Int(names.LogHops, hops))
	log.LogAttrs(ctx, slog.LevelWarn, line, metrics.Append(attrs, now, emf.Count(names.MetricSentOn, 1))...) //nolint:sloglint // a constant of the caller
}

// LogRun logs a unit of work: at level INFO, or with its error at level ERROR.
func LogRun(ctx context.Context, log *slog.Logger, line string, err error, attrs ...slog.Attr) {
	level := slog.LevelInfo
	if err != nil {
		level, attrs = slog.LevelError, append(attrs, slog.Any(names.LogError, err))
	}
	log.LogAttrs(ctx, level, line, attrs...) //nolint:sloglint // a constant of the caller
}
