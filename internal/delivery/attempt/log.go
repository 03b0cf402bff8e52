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
		slog.String(names.LogTenant, string(s.Token.Tenant)),
		slog.String(names.LogEvent, string(s.Token.Delivery.Event)),
		slog.String(names.LogEventType, s.Event.Type),
		slog.String(names.LogEndpoint, string(s.Token.Delivery.Endpoint)),
		slog.String(names.LogDelivery, s.Token.Delivery.String()),
		slog.Int(names.LogAttempt, s.Token.Attempt),
	)
	if t, given := trace.Parse(s.Event.TraceParent); given {
		attrs = append(attrs, slog.String(names.LogTrace, t.String()))
	}
	return attrs
}
