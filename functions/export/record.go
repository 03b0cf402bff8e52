package main

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// record returns the spans as OpenTelemetry's exporters take them, with their own ids. A tracer of
// the SDK would give each span a new id; the stubs of its package for tests are the other way to
// make spans.
func record(environment string, spans []span) []sdktrace.ReadOnlySpan {
	from := resource.NewSchemaless(attribute.String("service.name", "surehook"), attribute.String("deployment.environment.name", environment))
	all := make(tracetest.SpanStubs, len(spans))
	for i, s := range spans {
		ids := trace.SpanContextConfig{TraceID: s.trace, SpanID: s.id, TraceFlags: trace.FlagsSampled}
		all[i] = tracetest.SpanStub{
			Name: s.name, SpanKind: s.kind, StartTime: s.start, EndTime: s.end, Attributes: s.attributes, Status: s.status(),
			SpanContext: trace.NewSpanContext(ids), Resource: from,
			InstrumentationScope: instrumentation.Scope{Name: "surehook.example/surehook/functions/export"},
		}
		if s.parent.IsValid() {
			ids.SpanID, ids.Remote = s.parent, true
			all[i].Parent = trace.NewSpanContext(ids)
		}
	}
	return all.Snapshots()
}
