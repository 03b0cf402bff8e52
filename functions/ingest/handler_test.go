package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/internal/aws/apigateway"
	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/delivery/source"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
	"surehook.example/surehook/internal/names"
)

// fake accepts the events of acme, and fails for other tenants. It records the events, the reasons
// of rejects, and when messages come again. The tenants of a batch come concurrently.
type fake struct {
	mu      sync.Mutex
	got     []string // tenant, type, key, payload, retention and trace of each event
	reasons []string
	after   map[string]time.Duration // by receipt
}

func (f *fake) AcceptBatch(_ context.Context, tenant hook.TenantID, requests []ingest.Request) []ingest.Result {
	f.mu.Lock()
	defer f.mu.Unlock()
	results := make([]ingest.Result, len(requests))
	for i, r := range requests {
		f.got = append(f.got, strings.Join([]string{string(tenant), r.Type, r.IdempotencyKey, string(r.Payload), r.RetainFor.String(), r.TraceParent}, " "))
		switch {
		case len(r.Wrong) > 0:
			results[i].Err = hook.Invalid(r.Wrong...)
		case tenant != "acme":
			results[i].Err = errors.New("no")
		}
	}
	return results
}

func (f *fake) Return(context.Context, source.Message, string, time.Duration) error {
	return errors.New("not here")
}

func (f *fake) Reject(_ context.Context, m source.Message) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reasons = append(f.reasons, m.Reason())
	return nil
}

func (f *fake) Change(_ context.Context, _ string, after map[string]time.Duration) error {
	f.after = after
	return nil
}

const batch = `{"Records": [
	{"messageId": "m1", "receiptHandle": "r1", "eventSource": "aws:sqs", "eventSourceARN": "arn:aws:sqs:eu-west-1:123456789012:events",
	 "body": "{\"tenant\":\"acme\",\"event_type\":\"order.paid\",\"payload\":{\"a\": 1.0},\"retain_for\":\"672h\"}",
	 "attributes": {"SentTimestamp": "1795000000000"}, "messageAttributes": {}},
	{"messageId": "m2", "receiptHandle": "r2", "eventSourceARN": "arn:aws:sqs:eu-west-1:123456789012:events", "body": " 7", "attributes": {"SentTimestamp": "1795000000000"},
	 "messageAttributes": {"tenant": {"stringValue": "acme", "dataType": "String"}, "event_type": {"stringValue": "order.paid", "dataType": "String"},
	  "traceparent": {"stringValue": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "dataType": "String"}, "other": {"stringValue": "x", "dataType": "String"}}},
	{"messageId": "m3", "receiptHandle": "r3", "eventSourceARN": "arn:aws:sqs:eu-west-1:123456789012:events", "body": "{\"tenant\":\"globex\",\"event_type\":\"a\",\"payload\":1}", "attributes": {"ApproximateReceiveCount": "1"}},
	{"messageId": "m4", "receiptHandle": "r4", "eventSourceARN": "arn:aws:sqs:eu-west-1:123456789012:events", "body": "{\"tenant\":\"acme\",\"payload\":1,\"retain_for\":\"x\",\"more\":1}", "attributes": {}},
	{"messageId": "m5", "receiptHandle": "r5", "eventSourceARN": "arn:aws:sqs:eu-west-1:123456789012:events", "body": "{\"tenant\":7}", "attributes": {}}
]}`

// TestHandle_acceptsABatch checks that the messages of a batch are read like requests of the API:
// two are accepted, one fails, and two become rejects.
func TestHandle_acceptsABatch(t *testing.T) {
	t.Parallel()

	f := new(fake)
	log := slog.New(slog.DiscardHandler)
	h := &handler{
		source: &source.Source{
			Reader: source.Reader{Tenant: names.DefaultTenantPath, Body: httpapi.ReadEvent}, Acceptor: f, Queue: f,
			Rand: func() float64 { return 0 }, Metrics: emf.Set{}, Log: log, Now: time.Now,
		},
		batches: lambdafn.Batches{Visibility: f, Rand: func() float64 { return 0 }, Log: log, Now: time.Now},
	}
	var in lambdafn.Input
	if err := json.Unmarshal([]byte(batch), &in); err != nil {
		t.Fatal(err)
	}
	answer, err := h.Handle(t.Context(), in)
	if err != nil {
		t.Fatalf("Handle() = %v", err)
	}
	want := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{{ItemIdentifier: "m3"}}}
	if diff := cmp.Diff(want, answer); diff != "" || f.after["r3"] != time.Second {
		t.Errorf("Handle() (-want +got):\n%sand messages come again after %v; want m3 after a second", diff, f.after)
	}
	for _, event := range []string{
		`acme order.paid m1 {"a": 1.0} 672h0m0s `, `acme order.paid m2  7 0s 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`,
	} {
		if !strings.Contains(strings.Join(f.got, "\n")+"\n", event+"\n") {
			t.Errorf("accepted %q; want %q among them", f.got, event)
		}
	}
	reasons := strings.Join(f.reasons, "\n")
	for _, part := range []string{"more: is not a known field", `retain_for: must be a duration`, "tenant: must be a string"} {
		if len(f.reasons) != 2 || !strings.Contains(reasons, part) {
			t.Errorf("reasons = %q; want two, with %q", f.reasons, part)
		}
	}
}

// TestHandle_servesTheAPI checks that requests get the answer of the API, and that other events are
// errors.
func TestHandle_servesTheAPI(t *testing.T) {
	t.Parallel()

	h := &handler{api: apigateway.Function(func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		return events.APIGatewayV2HTTPResponse{StatusCode: http.StatusAccepted}, nil
	})}
	var in lambdafn.Input
	in.RequestContext.HTTP.Method = "POST"
	got, err := h.Handle(t.Context(), in)
	if diff := cmp.Diff(events.APIGatewayV2HTTPResponse{StatusCode: http.StatusAccepted}, got); err != nil || diff != "" {
		t.Errorf("Handle() = %v; answer of the API (-want +got):\n%s", err, diff)
	}
	if _, err := h.Handle(t.Context(), lambdafn.Input{}); hook.CodeOf(err) != hook.CodeInvalid {
		t.Errorf("Handle(nothing) = %v; want CodeInvalid", err)
	}
}
