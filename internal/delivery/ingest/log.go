package ingest

import (
	"log/slog"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// Attrs returns the attributes of the log line [names.LineIngested] of an accepted event.
func (r Result) Attrs(tenant hook.TenantID, eventType string) []slog.Attr {
	attrs := []slog.Attr{
		slog.String(names.LogTenant, string(tenant)),
		slog.String(names.LogEvent, string(r.ID)),
		slog.String(names.LogEventType, eventType),
		slog.Int(names.LogDeliveries, r.Deliveries),
	}
	if r.Duplicate { // the metric of accepted events counts the lines without this attribute
		attrs = append(attrs, slog.Bool(names.LogDuplicate, true))
	}
	if len(r.Warnings) > 0 { // the metric of warned events counts the lines with this attribute; only the number, as a message may quote the payload
		attrs = append(attrs, slog.Int(names.LogWarnings, len(r.Warnings)))
	}
	if r.Trace.Given() {
		attrs = append(attrs, slog.String(names.LogTrace, r.Trace.String()))
	}
	return attrs
}
