package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/names"
)

type handler struct {
	exporter    sdktrace.SpanExporter
	environment string
	metrics     emf.Set
	log         *slog.Logger
	now         func() time.Time
}

// controlMessage is the type of the message that tests a new subscription.
const controlMessage = "CONTROL_MESSAGE"

// Handle exports the spans of one batch of log lines. A line that cannot be read is counted and
// skipped. After an error Lambda invokes the function up to twice more; a span that is sent twice
// has the same ids. After that the spans are lost, but the log keeps the lines.
func (h *handler) Handle(ctx context.Context, in events.CloudwatchLogsEvent) error {
	batch, err := in.AWSLogs.Parse()
	if err != nil {
		return fmt.Errorf("decode batch of log lines: %w", err)
	}
	if batch.MessageType == controlMessage {
		return nil
	}
	var spans tracetest.SpanStubs
	from := resource.NewSchemaless(attribute.String("service.name", "surehook"), attribute.String("deployment.environment.name", h.environment))
	skipped := 0
	for _, event := range batch.LogEvents {
		s, ok, err := readSpan(event.Message)
		switch {
		case err != nil:
			skipped++
			h.log.LogAttrs(ctx, slog.LevelWarn, "span.unreadable", slog.String(names.LogMessage, event.ID), slog.Any(names.LogError, err))
		case ok:
			s.Resource = from
			spans = append(spans, s)
		}
	}
	line := []slog.Attr{slog.Int(names.LogSpans, len(spans))}
	h.log.LogAttrs(ctx, slog.LevelInfo, "spans.read", h.metrics.Append(line, h.now(), emf.Count(names.MetricUnreadable, skipped))...)
	if len(spans) == 0 {
		return nil
	}
	if err := h.exporter.ExportSpans(ctx, spans.Snapshots()); err != nil {
		return fmt.Errorf("export %d spans: %w", len(spans), err)
	}
	return nil
}
