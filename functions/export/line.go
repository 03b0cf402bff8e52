package main

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
	ids "surehook.example/surehook/internal/rule/trace"
)

// line is a log line of ingest or deliver, with the keys of package names.
type line struct {
	At         time.Time    `json:"timestamp"` // the end of the span
	Message    string       `json:"message"`
	Tenant     string       `json:"tenant"`
	Event      hook.EventID `json:"event_id"`
	Trace      string       `json:"trace_id"` // only if a caller gave the trace
	EventType  string       `json:"event_type"`
	Deliveries int          `json:"deliveries"`
	Duplicate  bool         `json:"duplicate"`
	Endpoint   string       `json:"endpoint_id"`
	Delivery   string       `json:"delivery_id"`
	Attempt    int          `json:"attempt"`
	Outcome    string       `json:"outcome"`
	Status     int          `json:"status"`
	Duration   int64        `json:"duration_ms"`
	Decision   string       `json:"decision"` // missing for a delivered delivery
	Reason     string       `json:"reason"`
}

// readSpan returns the span of the line. ok is false if the line has none: it is another kind of
// line, or a repeated post.
//
// A tracer of the SDK would give each span a new id; the stubs of its package for tests are the
// other way to make spans.
func readSpan(text string) (s tracetest.SpanStub, ok bool, err error) {
	var l line
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return s, false, fmt.Errorf("decode line: %w", err)
	}
	if l.Message != names.LineAttempted && (l.Message != names.LineIngested || l.Duplicate) {
		return s, false, nil
	}
	if l.At.IsZero() {
		return s, false, errors.New("the line has no time")
	}
	id, ok := l.traceID()
	if !ok {
		return s, false, errors.New("the line names no trace")
	}
	accepted := trace.SpanContextConfig{TraceID: id, SpanID: trace.SpanID(ids.Acceptance(l.Event)), TraceFlags: trace.FlagsSampled}
	s = tracetest.SpanStub{
		Name: "accept event", SpanKind: trace.SpanKindServer, SpanContext: trace.NewSpanContext(accepted), StartTime: l.At, EndTime: l.At,
		Attributes: []attribute.KeyValue{
			attribute.String("surehook.tenant", l.Tenant),
			attribute.String("surehook.event_id", string(l.Event)),
			attribute.String("surehook.event_type", l.EventType),
		},
		InstrumentationScope: instrumentation.Scope{Name: "surehook.example/surehook/functions/export"},
	}
	if l.Message == names.LineIngested {
		s.Attributes = append(s.Attributes, attribute.Int("surehook.deliveries", l.Deliveries))
		return s, true, nil
	}
	return l.attempt(s)
}

// traceID returns the trace that a caller gave, or else the one that the event began.
func (l line) traceID() (id trace.TraceID, ok bool) {
	if l.Trace == "" {
		begun := ids.Of(&hook.Event{ID: l.Event})
		return trace.TraceID(begun.ID), begun != ids.Trace{}
	}
	n, err := hex.Decode(id[:], []byte(l.Trace[:min(len(l.Trace), 2*len(id))]))
	return id, err == nil && n == len(id) && len(l.Trace) == 2*len(id) && id.IsValid()
}

// attempt makes the span that of an attempt. Its parent is the acceptance of the event, because
// the line of a retry or replay names no other cause.
func (l line) attempt(s tracetest.SpanStub) (tracetest.SpanStub, bool, error) {
	delivery, err := hook.ParseDeliveryID(l.Delivery)
	if err != nil || l.Attempt < 1 || l.Duration < 0 {
		return s, false, errors.New("the line names no attempt")
	}
	s.Name, s.SpanKind = "attempt delivery", trace.SpanKindClient
	s.Parent, s.SpanContext = s.SpanContext.WithRemote(true), s.SpanContext.WithSpanID(trace.SpanID(ids.Attempt(delivery, l.Attempt)))
	s.StartTime = s.EndTime.Add(-time.Duration(l.Duration) * time.Millisecond)
	if l.Outcome != hook.ClassDelivered.String() {
		s.Status = sdktrace.Status{Code: codes.Error, Description: l.Outcome}
	}
	s.Attributes = append(s.Attributes,
		attribute.String("surehook.endpoint_id", l.Endpoint),
		attribute.String("surehook.delivery_id", l.Delivery),
		attribute.Int("surehook.attempt", l.Attempt),
		attribute.String("surehook.outcome", l.Outcome),
		attribute.String("surehook.decision", cmp.Or(l.Decision, l.Outcome)),
	)
	if l.Reason != "" {
		s.Attributes = append(s.Attributes, attribute.String("surehook.reason", l.Reason))
	}
	if l.Status != 0 {
		s.Attributes = append(s.Attributes, attribute.Int("http.response.status_code", l.Status))
	}
	return s, true, nil
}
