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
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
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

// span is a span with its ids. parent is zero if it is not known.
type span struct {
	trace      trace.TraceID
	id, parent trace.SpanID
	name       string
	kind       trace.SpanKind
	start, end time.Time
	failed     string // the reason of the status Error; empty for Unset
	attributes []attribute.KeyValue
}

var (
	errNoTime    = errors.New("the line has no time")
	errNoTrace   = errors.New("the line names no trace")
	errNoAttempt = errors.New("the line names no attempt")
)

// readSpan returns the span of the line. ok is false if the line has none: it is another kind of
// line, or a repeated post.
func readSpan(text string) (s span, ok bool, err error) {
	var l line
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return span{}, false, fmt.Errorf("decode line: %w", err)
	}
	if l.Message != names.LineAttempted && (l.Message != names.LineIngested || l.Duplicate) {
		return span{}, false, nil
	}
	if l.At.IsZero() {
		return span{}, false, errNoTime
	}
	s = span{start: l.At, end: l.At, attributes: []attribute.KeyValue{
		attribute.String("surehook.tenant", l.Tenant),
		attribute.String("surehook.event_id", string(l.Event)),
		attribute.String("surehook.event_type", l.EventType),
	}}
	if s.trace, ok = l.traceID(); !ok {
		return span{}, false, errNoTrace
	}
	if l.Message == names.LineIngested {
		s.name, s.kind, s.id = "accept event", trace.SpanKindServer, trace.SpanID(ids.Acceptance(l.Event))
		s.attributes = append(s.attributes, attribute.Int("surehook.deliveries", l.Deliveries))
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

// attempt completes the span of an attempt. Its parent is the acceptance of the event, because
// the line of a retry or replay names no other cause.
func (l line) attempt(s span) (span, bool, error) {
	delivery, err := hook.ParseDeliveryID(l.Delivery)
	if err != nil || l.Attempt < 1 || l.Duration < 0 {
		return span{}, false, errNoAttempt
	}
	s.name, s.kind = "attempt delivery", trace.SpanKindClient
	s.id, s.parent = trace.SpanID(ids.Attempt(delivery, l.Attempt)), trace.SpanID(ids.Acceptance(l.Event))
	s.start = s.end.Add(-time.Duration(l.Duration) * time.Millisecond)
	if l.Outcome != hook.ClassDelivered.String() {
		s.failed = l.Outcome
	}
	s.attributes = append(s.attributes,
		attribute.String("surehook.endpoint_id", l.Endpoint),
		attribute.String("surehook.delivery_id", l.Delivery),
		attribute.Int("surehook.attempt", l.Attempt),
		attribute.String("surehook.outcome", l.Outcome),
		attribute.String("surehook.decision", cmp.Or(l.Decision, l.Outcome)),
	)
	if l.Reason != "" {
		s.attributes = append(s.attributes, attribute.String("surehook.reason", l.Reason))
	}
	if l.Status != 0 {
		s.attributes = append(s.attributes, attribute.Int("http.response.status_code", l.Status))
	}
	return s, true, nil
}

// status returns the span's status in OpenTelemetry's terms.
func (s span) status() sdktrace.Status {
	if s.failed == "" {
		return sdktrace.Status{}
	}
	return sdktrace.Status{Code: codes.Error, Description: s.failed}
}
