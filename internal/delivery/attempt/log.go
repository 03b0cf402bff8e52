package attempt

import (
	"log/slog"

	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/rule/settlement"
	"surehook.example/surehook/internal/rule/trace"
)

// Attrs appends the attributes of every log line about the subject.
func Attrs(attrs []slog.Attr, s *settlement.Subject) []slog.Attr {
	attrs = append(attrs,
		slog.String(names.LogTenant, string(s.Task.Tenant)),
		slog.String(names.LogEvent, string(s.Task.Delivery.Event)),
		slog.String(names.LogEventType, s.Event.Type),
		slog.String(names.LogEndpoint, string(s.Task.Delivery.Endpoint)),
		slog.String(names.LogDelivery, s.Task.Delivery.String()),
		slog.Int(names.LogAttempt, s.Task.Attempt),
	)
	if t, given := trace.Parse(s.Event.TraceParent); given {
		attrs = append(attrs, slog.String(names.LogTrace, t.String()))
	}
	return attrs
}
