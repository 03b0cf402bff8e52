package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/credentials"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/internal/aws/lambdalog"
	"surehook.example/surehook/internal/config"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
	"surehook.example/surehook/internal/names"
	ids "surehook.example/surehook/internal/rule/trace"
	"surehook.example/surehook/proof/world"
)

// otlp is a collector on loopback. It takes OTLP over HTTP, in protobuf.
type otlp struct {
	status  int
	spans   []*tracepb.Span
	service string
	posts   int
}

func (c *otlp) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.posts++
	body, err := gzip.NewReader(r.Body)
	if err != nil || r.URL.Path != "/v1/traces" {
		http.Error(w, "not OTLP", http.StatusBadRequest)
		return
	}
	raw, err := io.ReadAll(body)
	var in collectorpb.ExportTraceServiceRequest
	if err != nil || proto.Unmarshal(raw, &in) != nil {
		http.Error(w, "not OTLP", http.StatusBadRequest)
		return
	}
	for _, resource := range in.GetResourceSpans() {
		for _, a := range resource.GetResource().GetAttributes() {
			c.service += a.GetKey() + "=" + a.GetValue().GetStringValue() + " "
		}
		for _, scope := range resource.GetScopeSpans() {
			c.spans = append(c.spans, scope.GetSpans()...)
		}
	}
	w.WriteHeader(c.status)
}

// setup returns a handler that exports to the collector, and the handler's log.
func setup(t *testing.T, c *otlp) (*handler, *bytes.Buffer) {
	t.Helper()

	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	exporter := newExporter(lambdafn.Function{Settings: config.Settings{Environment: "test", Choices: config.Choices{Traces: server.URL + "/v1/traces"}}, Now: time.Now})
	var log bytes.Buffer
	return &handler{
		exporter: exporter, environment: "test", metrics: emf.Set{Environment: "test"},
		log: slog.New(slog.NewJSONHandler(&log, nil)), now: time.Now,
	}, &log
}

// batch returns the lines in the form in which CloudWatch Logs sends them to a subscribed function.
func batch(t *testing.T, kind string, lines ...string) events.CloudwatchLogsEvent {
	t.Helper()

	data := events.CloudwatchLogsData{MessageType: kind}
	for i, line := range lines {
		data.LogEvents = append(data.LogEvents, events.CloudwatchLogsLogEvent{ID: string(rune('a' + i)), Message: line})
	}
	raw, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return events.CloudwatchLogsEvent{AWSLogs: events.CloudwatchLogsRawData{Data: base64.StdEncoding.EncodeToString(packed.Bytes())}}
}

// TestHandle_exportsRealLines posts an event whose first attempt fails. The log lines come from the
// code of ingest and deliver, and the test reads the spans at the collector.
func TestHandle_exportsRealLines(t *testing.T) {
	t.Parallel()

	const caller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for _, given := range []string{"", caller} {
		t.Run("traceparent "+given, func(t *testing.T) {
			t.Parallel()

			lines := journey(t, given)
			collector := &otlp{status: http.StatusOK}
			h, log := setup(t, collector)
			if err := h.Handle(t.Context(), batch(t, "DATA_MESSAGE", lines...)); err != nil {
				t.Fatalf("Handle() = %v: %s", err, log)
			}
			if len(collector.spans) != 3 || collector.posts != 1 {
				t.Fatalf("%d spans in %d posts; want acceptance and two attempts in one: %s", len(collector.spans), collector.posts, lines)
			}
			accepted, failed, delivered := collector.spans[0], collector.spans[1], collector.spans[2]
			event := hook.EventID(attributes(accepted)["surehook.event_id"])
			traceID := ids.Of(&hook.Event{ID: event, TraceParent: given}).String()
			for _, s := range collector.spans {
				if hex.EncodeToString(s.GetTraceId()) != traceID {
					t.Errorf("span %s is in the trace %x; want %s", s.GetName(), s.GetTraceId(), traceID)
				}
			}
			acceptance := ids.Acceptance(event).String()
			if hex.EncodeToString(accepted.GetSpanId()) != acceptance || len(accepted.GetParentSpanId()) != 0 || accepted.GetKind() != tracepb.Span_SPAN_KIND_SERVER {
				t.Errorf("acceptance = %v; want the span %s without a parent", accepted, acceptance)
			}
			for number, s := range map[int]*tracepb.Span{1: failed, 2: delivered} {
				delivery, err := hook.ParseDeliveryID(attributes(s)["surehook.delivery_id"])
				if want := ids.Attempt(delivery, number).String(); err != nil || hex.EncodeToString(s.GetSpanId()) != want {
					t.Errorf("attempt %d has the span %x, %v; want %s", number, s.GetSpanId(), err, want)
				}
				if hex.EncodeToString(s.GetParentSpanId()) != acceptance || s.GetKind() != tracepb.Span_SPAN_KIND_CLIENT {
					t.Errorf("attempt %d has the parent %x; want %s", number, s.GetParentSpanId(), acceptance)
				}
				if took := time.Duration(s.GetEndTimeUnixNano() - s.GetStartTimeUnixNano()); took != 150*time.Millisecond {
					t.Errorf("attempt %d took %s; want 150 ms", number, took)
				}
			}
			if failed.GetStatus().GetCode() != tracepb.Status_STATUS_CODE_ERROR || attributes(failed)["surehook.decision"] != "retrying" {
				t.Errorf("the failed attempt = %v; want the status error", failed)
			}
			if delivered.GetStatus().GetCode() != tracepb.Status_STATUS_CODE_UNSET || attributes(delivered)["surehook.decision"] != "delivered" {
				t.Errorf("the second attempt = %v; want no error", delivered)
			}
			if want := "deployment.environment.name=test service.name=surehook "; collector.service != want {
				t.Errorf("the resource is %q; want %q", collector.service, want)
			}
		})
	}
}

func attributes(s *tracepb.Span) map[string]string {
	all := map[string]string{}
	for _, a := range s.GetAttributes() {
		all[a.GetKey()] = a.GetValue().GetStringValue()
	}
	return all
}

// journey returns the log lines of the API and of deliver for one event with two attempts, in the
// form of Lambda's logger.
func journey(t *testing.T, traceparent string) []string {
	t.Helper()

	w := world.New(t, world.Options{Function: world.Deliver, Delays: []time.Duration{time.Second}})
	w.Endpoint(nil)
	answers := []hook.Outcome{{Class: hook.ClassUnavailable, Status: 503}, {Class: hook.ClassDelivered, Status: 200}}
	w.Answer = func(send.Request) hook.Outcome {
		o := answers[0]
		answers = answers[1:]
		o.Duration = 150 * time.Millisecond
		return o
	}
	var log bytes.Buffer
	logger := lambdalog.New(&log)
	api := httpapi.Events(w.Acceptor(), logger)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/tenants/acme/events", strings.NewReader(`{"event_type":"order.paid","payload":1}`))
	r.Header.Set("Content-Type", "application/json")
	if traceparent != "" {
		r.Header.Set("Traceparent", traceparent)
	}
	r = r.WithContext(httpapi.WithPrincipal(r.Context(), hook.Principal{Key: "key_0123456789abcdef", Tenant: "acme", Scopes: hook.Scopes()}))
	answer := httptest.NewRecorder()
	api.ServeHTTP(answer, r)
	if answer.Code != http.StatusAccepted {
		t.Fatalf("the post got %d: %s", answer.Code, answer.Body)
	}
	w.Run()
	// The world logs with the keys of slog.
	text := log.String() + strings.NewReplacer(`"time":`, `"timestamp":`, `"msg":`, `"message":`).Replace(w.Log.String())
	return strings.Split(strings.TrimSpace(text), "\n")
}

// TestHandle_skipsUnreadableLines checks that a line that cannot be read is counted, and does not
// affect the others.
func TestHandle_skipsUnreadableLines(t *testing.T) {
	t.Parallel()

	good := journey(t, "")
	attempt := ""
	for _, line := range good {
		if strings.Contains(line, names.LineAttempted) {
			attempt = line
		}
	}
	without := func(key string) string {
		return regexp.MustCompile(`"`+key+`":("[^"]*"|[0-9]+),?`).ReplaceAllString(attempt, "")
	}
	tests := []struct {
		name  string
		line  string
		spans int
		bad   bool
	}{
		{name: "an attempt", line: attempt, spans: 1},
		{name: "not JSON", line: "panic: oops", bad: true},
		{name: "without a time", line: without("timestamp"), bad: true},
		{name: "without an event", line: without("event_id"), bad: true},
		{name: "without a delivery", line: without("delivery_id"), bad: true},
		{name: "without a number", line: without("attempt"), bad: true},
		{name: "a trace id too short", line: strings.Replace(attempt, `"message":`, `"trace_id":"4bf9","message":`, 1), bad: true},
		{name: "a trace id of zeros", line: strings.Replace(attempt, `"message":`, `"trace_id":"`+strings.Repeat("0", 32)+`","message":`, 1), bad: true},
		{name: "a trace id too long", line: strings.Replace(attempt, `"message":`, `"trace_id":"`+strings.Repeat("1", 33)+`","message":`, 1), bad: true},
		{name: "another line", line: `{"message":"task.dropped"}`},
		{name: "a repeated post", line: `{"message":"event.ingested","duplicate":true}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			collector := &otlp{status: http.StatusOK}
			h, log := setup(t, collector)
			if err := h.Handle(t.Context(), batch(t, "DATA_MESSAGE", append([]string{tt.line}, good...)...)); err != nil {
				t.Fatal(err)
			}
			if len(collector.spans) != 3+tt.spans || strings.Contains(log.String(), `"span_lines_unreadable":1`) != tt.bad {
				t.Errorf("%d spans, log %s; want %d, an unreadable line: %t", len(collector.spans), log, 3+tt.spans, tt.bad)
			}
		})
	}
}

// TestHandle_answers checks after which batches Lambda calls again.
func TestHandle_answers(t *testing.T) {
	t.Parallel()

	lines := journey(t, "")
	tests := []struct {
		name   string
		in     events.CloudwatchLogsEvent
		status int
		failed bool
		posts  int
	}{
		{name: "accepted", in: batch(t, "DATA_MESSAGE", lines...), status: 200, posts: 1},
		{name: "refused: Lambda calls again", in: batch(t, "DATA_MESSAGE", lines...), status: 400, failed: true, posts: 1},
		{name: "the test of a subscription", in: batch(t, "CONTROL_MESSAGE", "CWL CONTROL MESSAGE"), status: 200},
		{name: "no line with a span: no request", in: batch(t, "DATA_MESSAGE", `{"message":"x"}`), status: 200},
		{name: "not a batch", in: events.CloudwatchLogsEvent{AWSLogs: events.CloudwatchLogsRawData{Data: "?"}}, status: 200, failed: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			collector := &otlp{status: tt.status}
			h, _ := setup(t, collector)
			if err := h.Handle(t.Context(), tt.in); (err != nil) != tt.failed || collector.posts != tt.posts {
				t.Errorf("Handle() = %v after %d posts; want an error: %t after %d", err, collector.posts, tt.failed, tt.posts)
			}
		})
	}
}

// roundTrip is a transport in a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestSigned_signsTheBody checks that requests to X-Ray keep their body, and have a signature over it.
func TestSigned_signsTheBody(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 11, 22, 9, 30, 0, 0, time.UTC)
	var got []string
	transport := &signed{
		credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", "session"), region: "eu-central-1",
		now: func() time.Time { return now },
		next: roundTrip(func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			got = append(got, string(body), r.Header.Get("Authorization"), r.Header.Get("X-Amz-Security-Token"))
			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, err
		}),
	}
	for _, body := range []string{"spans", "other"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://xray.eu-central-1.amazonaws.com/v1/traces", strings.NewReader(body))
		response, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
	}
	const scope = "AWS4-HMAC-SHA256 Credential=AKID/20261122/eu-central-1/xray/aws4_request, SignedHeaders="
	if got[0] != "spans" || got[2] != "session" || !strings.HasPrefix(got[1], scope) || got[1] == got[4] {
		t.Errorf("sent %q; want each body with its own signature", got)
	}
}
