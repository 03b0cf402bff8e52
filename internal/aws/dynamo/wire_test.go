package dynamo_test

import (
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
)

// request is a request of the SDK.
type request struct {
	op   string // "PutItem"
	body body
}

type body map[string]any

// at follows the path through objects and lists. at returns nil for a missing
// value.
func (b body) at(path ...any) any {
	var v any = map[string]any(b)
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			l, _ := v.([]any)
			if step >= len(l) {
				return nil
			}
			v = l[step]
		}
	}
	return v
}

// answer is the table's answer to a request.
type answer struct {
	status int // 0: 200
	body   string
}

// wire is a table with scripted answers that records the requests. The last answer repeats.
type wire struct {
	mu       sync.Mutex
	script   []answer
	requests []request
	reply    func(r request) answer // answers in place of the script; may be nil
	after    func(n int)            // called with the number of requests so far; may be nil
	hangUp   bool                   // breaks the connection instead of answering
	arrived  func(n int32)          // called with the number of requests in flight; may be nil

	inFlight, most atomic.Int32 // requests now, and the most at one time
}

// newWire returns a wire and a store on the wire.
func newWire(tb testing.TB, script ...answer) (*wire, *dynamo.Store) {
	tb.Helper()

	w := &wire{script: script}
	store := dynamo.New(aws.Config{
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
		BaseEndpoint: aws.String("http://dynamodb.test"),
		HTTPClient:   w,
		Retryer: func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
			})
		},
	}, "table")
	store.Wait = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	return w, store
}

// Do answers without a network: on a busy machine, a connection may break, and the SDK repeats the request.
func (w *wire) Do(r *http.Request) (*http.Response, error) {
	rw := httptest.NewRecorder()
	ended := make(chan bool, 1)
	go func() {
		whole := false
		defer func() {
			_ = recover() // http.ErrAbortHandler breaks the connection
			ended <- whole
		}()
		w.ServeHTTP(rw, r)
		whole = true
	}()
	select {
	case whole := <-ended:
		if !whole {
			return nil, io.ErrUnexpectedEOF
		}
		return rw.Result(), nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

func (w *wire) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	n := w.inFlight.Add(1)
	defer w.inFlight.Add(-1)
	if w.arrived != nil {
		w.arrived(n)
	}
	w.mu.Lock()
	defer w.mu.Unlock()

	w.most.Store(max(w.most.Load(), w.inFlight.Load()))
	text, _ := io.ReadAll(r.Body)
	var b body
	_ = json.Unmarshal(text, &b)
	_, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	w.requests = append(w.requests, request{op, b})
	if w.after != nil {
		w.after(len(w.requests))
	}
	if w.hangUp {
		panic(http.ErrAbortHandler)
	}

	a := answer{body: "{}"}
	if len(w.script) > 0 {
		a = w.script[min(len(w.requests), len(w.script))-1]
	}
	if w.reply != nil {
		a = w.reply(w.requests[len(w.requests)-1])
	}
	rw.Header().Set("Content-Type", "application/x-amz-json-1.0")
	if a.status != 0 {
		rw.WriteHeader(a.status)
	}
	_, _ = io.WriteString(rw, a.body)
}

// sent returns the requests so far.
func (w *wire) sent() []request {
	w.mu.Lock()
	defer w.mu.Unlock()

	return slices.Clone(w.requests)
}

// only returns the only request.
func (w *wire) only(t *testing.T) request {
	t.Helper()

	sent := w.sent()
	if len(sent) != 1 {
		t.Fatalf("requests sent: %v; want one", sent)
	}
	return sent[0]
}

func failure(status int, kind, rest string) answer {
	return answer{status, `{"__type":"com.amazonaws.dynamodb.v20120810#` + kind + `","message":"for the test"` + rest + `}`}
}

// canceled is the answer to a cancelled transaction, with a reason for each write.
func canceled(reasons ...string) answer {
	var list []string
	for _, reason := range reasons {
		list = append(list, `{"Code":"`+reason+`"}`)
	}
	return failure(http.StatusBadRequest, "TransactionCanceledException", `,"CancellationReasons":[`+strings.Join(list, ",")+`]`)
}

const (
	eventID    hook.EventID    = "evt_01jgjb5c8weyrv1tzv2x3fjq7h"
	endpointID hook.EndpointID = "ep_0123456789abcdef"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)

func delivery(version int64) hook.Delivery {
	return hook.Delivery{
		ID: hook.DeliveryID{Event: eventID, Endpoint: endpointID, Generation: 1}, AcceptedAt: epoch.UnixMilli(),
		Tenant: "acme", EventType: "order.paid", State: hook.StateRetrying, Attempts: 1, Version: version, DecidedBy: "n0n1n2n3n4n5n6n7",
		CreatedAt: epoch, UpdatedAt: epoch, ExpiresAt: epoch.AddDate(0, 0, 90),
	}
}

// record returns the record of an open circuit.
func record(version int64) admission.Record {
	r := admission.NewRecord("acme", endpointID)
	r.State, r.ProbeAt, r.AttendAt, r.Version = circuit.Open, epoch, epoch, version
	return r
}

func attempt() *hook.Attempt {
	return &hook.Attempt{
		Delivery: delivery(0).Ref(), Number: 1, Trigger: hook.TriggerEvent, StartedAt: epoch, ExpiresAt: epoch.AddDate(0, 0, 90),
		Outcome: hook.Outcome{Class: hook.ClassTimeout, Error: "no answer within 10s"},
	}
}

// longAttempt is too long for the record of its delivery.
func longAttempt() *hook.Attempt { return noisy(1, 2000) }

// noisy returns an attempt whose body has so many bytes that no compression shortens.
func noisy(number, body int) *hook.Attempt {
	a := attempt()
	a.Number, a.Outcome.Body = number, make([]byte, body)
	_, _ = rand.NewChaCha8([32]byte{byte(number)}).Read(a.Outcome.Body)
	return a
}

func event() hook.Event {
	return hook.Event{
		ID: eventID, Tenant: "acme", Type: "order.paid", Payload: []byte("{}"), AcceptedAt: epoch, ExpiresAt: epoch.AddDate(0, 0, 90),
	}
}

func endpoint(uid string) hook.Endpoint {
	return hook.Endpoint{ID: endpointID, Tenant: "acme", UID: uid, URL: "https://example.com", Version: 3, Status: hook.StatusActive}
}
