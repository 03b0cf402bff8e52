package main

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// record returns the spans as OpenTelemetry's exporters take them, with their own ids.
func record(ctx context.Context, environment string, spans []span) []sdktrace.ReadOnlySpan {
	var ended collector
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithSampler(sdktrace.AlwaysSample()), sdktrace.WithIDGenerator(knownIDs{}), sdktrace.WithSpanProcessor(&ended),
		sdktrace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "surehook"), attribute.String("deployment.environment.name", environment))),
	)
	tracer := provider.Tracer("surehook.example/surehook/functions/export")
	for _, s := range spans {
		at := context.WithValue(ctx, spanKey{}, s)
		options := []trace.SpanStartOption{trace.WithTimestamp(s.start), trace.WithSpanKind(s.kind), trace.WithAttributes(s.attributes...)}
		if s.parent.IsValid() {
			at = trace.ContextWithRemoteSpanContext(at, trace.NewSpanContext(trace.SpanContextConfig{
				TraceID: s.trace, SpanID: s.parent, TraceFlags: trace.FlagsSampled, Remote: true,
			}))
		} else {
			options = append(options, trace.WithNewRoot())
		}
		_, recorded := tracer.Start(at, s.name, options...)
		recorded.SetStatus(s.status())
		recorded.End(trace.WithTimestamp(s.end))
	}
	return ended.spans
}

// spanKey is the key of the span in a context.
type spanKey struct{}

// knownIDs gives a new span the ids of the span in the context.
type knownIDs struct{}

func (knownIDs) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	s, _ := ctx.Value(spanKey{}).(span)
	return s.trace, s.id
}

func (knownIDs) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	s, _ := ctx.Value(spanKey{}).(span)
	return s.id
}

// collector keeps the ended spans. The SDK's own processors would export each span in a request of
// its own, or all of them in the background, when Lambda may have frozen the process.
type collector struct{ spans []sdktrace.ReadOnlySpan }

func (*collector) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

func (c *collector) OnEnd(s sdktrace.ReadOnlySpan) { c.spans = append(c.spans, s) }

func (*collector) Shutdown(context.Context) error { return nil }

func (*collector) ForceFlush(context.Context) error { return nil }
