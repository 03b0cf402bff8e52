package source_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/delivery/source"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/names"
)

// bundle is a source over the store in memory. It is also the queue, which may fail.
type bundle struct {
	*source.Source

	store    *memory.Store
	tasks    *memory.TaskQueues
	queue    *memory.EventQueue
	lines    strings.Builder
	now      time.Time
	fails    error // of Return and Reject
	groups   []string
	acceptor *ingest.Acceptor
}

func (b *bundle) Return(ctx context.Context, m source.Message, group string, delay time.Duration) error {
	b.groups = append(b.groups, group)
	return errors.Join(b.fails, b.queue.Return(ctx, m, group, delay))
}

func (b *bundle) Reject(ctx context.Context, m source.Message) error {
	if b.fails != nil {
		return b.fails
	}
	return b.queue.Reject(ctx, m)
}

func setup(t *testing.T) *bundle {
	t.Helper()

	b := &bundle{store: memory.NewStore(), now: time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)}
	now := func() time.Time { return b.now }
	b.tasks, b.queue = memory.NewTaskQueues(now), memory.NewEventQueue(now)
	directory := ingest.NewDirectory(b.store)
	b.acceptor = &ingest.Acceptor{Store: b.store, Queue: b.tasks, Directory: directory, Retention: 90 * 24 * time.Hour, Now: now, NewID: hook.NewEventID}
	b.Source = &source.Source{
		Reader: source.Reader{Tenant: names.DefaultTenantPath, Body: body}, Acceptor: b.acceptor, Queue: b,
		Rand: func() float64 { return 0 }, Metrics: emf.Set{Environment: "prod"}, Log: slog.New(slog.NewJSONHandler(&b.lines, nil)), Now: now,
	}
	for _, tenant := range []hook.TenantID{"acme", "globex"} {
		e := hook.Endpoint{ID: hook.NewEndpointID(), Tenant: tenant, URL: "https://example.com/" + string(tenant), EventTypes: []string{"*"}, Status: hook.StatusActive}
		if err := b.store.CreateEndpoint(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// body reads the body of a post, as package httpapi does for the deployed function.
func body(text []byte, _ string) (tenant string, r ingest.Request, err error) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil {
		return "", r, hook.Invalid(hook.FieldError{Field: "body", Message: "is not valid JSON"})
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		to, known := map[string]*string{"tenant": &tenant, "event_type": &r.Type, "idempotency_key": &r.IdempotencyKey, "retain_for": new("")}[name]
		switch {
		case name == "payload":
			r.Payload = fields[name]
		case !known || json.Unmarshal(fields[name], to) != nil:
			r.Wrong = append(r.Wrong, hook.FieldError{Field: name, Message: "is not a known field"})
		}
	}
	return tenant, r, nil
}

func (b *bundle) message(id, body string, attributes ...string) source.Message {
	m := source.Message{ID: id, Body: body, SentAt: b.now.Add(-time.Minute), Attributes: map[string]string{}}
	for i := 0; i+1 < len(attributes); i += 2 {
		m.Attributes[attributes[i]] = attributes[i+1]
	}
	return m
}

// received returns the messages of the events queue.
func (b *bundle) received() (all []source.Message) {
	for _, m := range b.queue.Events(10) {
		all = append(all, m.Message)
	}
	return all
}

// event returns the event under the key, as type, payload and ordering key.
func (b *bundle) event(t *testing.T, tenant hook.TenantID, key string) string {
	t.Helper()

	e, err := b.store.Event(t.Context(), hook.KeyedEventID(tenant, key))
	if err != nil {
		return err.Error()
	}
	if e.OrderingKey != "" {
		return e.Type + " " + string(e.Payload) + " of " + e.OrderingKey
	}
	return e.Type + " " + string(e.Payload)
}

// rejects returns the reasons.
func (b *bundle) rejects(t *testing.T) (reasons []string) {
	t.Helper()

	received, err := b.queue.Receive(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range received {
		reasons = append(reasons, m.Reason())
	}
	return reasons
}

// outbox are the attributes of an item.
const outbox = `"tenant":{"S":"acme"},"event_type":{"S":"order.paid"},"payload":{"S":"{\"a\": \"x\"}"}`

// record is a record of a DynamoDB stream, as a pipe sends it.
func record(change, image string) string {
	return `{"eventID":"s1","eventName":"` + change + `","eventSource":"aws:dynamodb","dynamodb":{"Keys":{"pk":{"S":"1"}},"NewImage":{` + image + `},"SequenceNumber":"1"}}`
}

// TestProcessBatch_forms checks the four forms of a message, and their keys.
func TestProcessBatch_forms(t *testing.T) {
	t.Parallel()

	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for _, tt := range []struct {
		name, body string
		attributes []string
		key        string
		want       string
	}{
		{"a post with its tenant", `{"tenant":"acme","event_type":"order.paid","payload":{"a": 1.0}}`, nil, "m1", `order.paid {"a": 1.0}`},
		{"a post with a key", `{"tenant":"acme","event_type":"order.paid","payload":1,"idempotency_key":"k","retain_for":"672h"}`, nil, "k", `order.paid 1`},
		{"a payload with attributes", ` {"a": 1e2} `, []string{"tenant", "acme", "event_type", "order.paid", "traceparent", parent}, "m1", `order.paid  {"a": 1e2} `},
		{"a payload with a key", `7`, []string{"tenant", "acme", "event_type", "order.paid", "idempotency_key", "k"}, "k", `order.paid 7`},
		{"a payload with an ordering key", `7`, []string{"tenant", "acme", "event_type", "order.paid", "ordering_key", "cart-7"}, "m1", `order.paid 7 of cart-7`},
		{"the first message of a redrive", `7`, []string{"tenant", "acme", "event_type", "order.paid", "surehook_id", "m0", "surehook_reason", "wrong"}, "m0", `order.paid 7`},
		{
			"an event of EventBridge", `{"version":"0","id":"e1","detail-type":"order.paid","source":"shop","account":"1","time":"2026-11-21T09:30:00Z","region":"eu-west-1","resources":[],"detail":{"tenant":"acme", "n": 12345678901234567890}}`,
			nil, "e1", `order.paid {"tenant":"acme", "n": 12345678901234567890}`,
		},
		{"a record of an outbox", record("INSERT", `"key":{"S":"k"},`+outbox), nil, "k", `order.paid {"a": "x"}`},
		{"a record without a key", record("INSERT", outbox), nil, "s1", `order.paid {"a": "x"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			for range 2 { // SQS may deliver a message twice
				if failed := b.ProcessBatch(t.Context(), []source.Message{b.message("m1", tt.body, tt.attributes...)}); len(failed) != 0 {
					t.Fatalf("ProcessBatch() fails %v: %s", failed, b.lines.String())
				}
			}
			if got := b.event(t, "acme", tt.key); got != tt.want {
				t.Errorf("event = %s; want %s", got, tt.want)
			}
			if reasons := b.rejects(t); reasons != nil || strings.Count(b.lines.String(), `"duplicate":true`) != 1 {
				t.Errorf("rejects = %v, lines = %s; want none, and one duplicate", reasons, b.lines.String())
			}
		})
	}
}

// TestProcessBatch_rejects checks that a wrong message moves to the rejects with its reason, and
// that the other events of its batch are accepted.
func TestProcessBatch_rejects(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		name, body string
		attributes []string
		want       []string // parts of the reason
	}{
		{"no JSON", `order`, nil, []string{"body: is not valid JSON"}},
		{"no tenant", `{"event_type":"a","payload":1}`, nil, []string{"tenant: is missing"}},
		{"every wrong field", `{"tenant":"","event_type":"","payload":1,"more":2}`, nil, []string{"more: is not a known field", "tenant: is missing"}},
		{"no name of a tenant", `{"tenant":"..","event_type":"a","payload":1}`, nil, []string{"tenant: must be 1 to 128"}},
		{"a payload that is no JSON", `{`, []string{"tenant", "acme", "event_type", "a"}, []string{"payload: the body is not valid JSON"}},
		{"an event type without a tenant", `1`, []string{"event_type", "a"}, []string{"tenant: is missing"}},
		{"a tenant without an event type", `1`, []string{"tenant", "acme"}, []string{"event_type: is missing"}},
		{"a key with a space", `1`, []string{"tenant", "acme", "event_type", "a", "idempotency_key", "a b"}, []string{"idempotency_key"}},
		{"an ordering key with a space", `1`, []string{"tenant", "acme", "event_type", "a", "ordering_key", "a b"}, []string{"ordering_key"}},
		{"a large payload", `"` + strings.Repeat("x", hook.MaxPayload) + `"`, []string{"tenant", "acme", "event_type", "a"}, []string{"payload: must be at most 262144 bytes"}},
		{"a bus without a tenant", `{"id":"e","detail-type":"a","detail":{}}`, nil, []string{"detail.tenant: must be a string"}},
		{"a bus with another detail", `{"id":"e","detail-type":"a","detail":7}`, nil, []string{"detail.tenant: must be a string"}},
		{"a type with spaces", `{"id":"e","detail-type":"Order Paid","detail":{"tenant":"acme"}}`, nil, []string{"event_type: must be 1 to 128"}},
		{"a changed item", record("MODIFY", outbox), nil, []string{"eventName: must be INSERT"}},
		{"a record without a tenant", record("INSERT", `"event_type":{"S":"a"},"payload":{"S":"1"}`), nil, []string{"dynamodb.NewImage.tenant.S: must be a string"}},
		{"a record whose payload is no JSON", record("INSERT", `"tenant":{"S":"acme"},"event_type":{"S":"a"},"payload":{"S":"{"}`), nil, []string{"payload.S: is not valid JSON"}},
		{"names that SQS refuses", "{\"tenant\":\"acme\",\"event_type\":\"a\",\"payload\":1,\"\\u0001\\uffff\":1}", nil, []string{"  : is not a known field"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			failed := b.ProcessBatch(t.Context(), []source.Message{b.message("m1", tt.body, tt.attributes...), b.message("m2", `2`, "tenant", "acme", "event_type", "a")})
			if len(failed) != 0 || b.event(t, "acme", "m2") != "a 2" {
				t.Errorf("ProcessBatch() fails %v, and the other event is %s; want both ended", failed, b.event(t, "acme", "m2"))
			}
			reasons := b.rejects(t)
			if len(reasons) != 1 {
				t.Fatalf("rejects = %q; want one: %s", reasons, b.lines.String())
			}
			for _, part := range tt.want {
				if !strings.Contains(reasons[0], part) {
					t.Errorf("the reason is %q; want %q in it", reasons[0], part)
				}
			}
			if strings.ContainsAny(reasons[0], "\x01\uffff") || !strings.Contains(b.lines.String(), `"events_rejected":1`) {
				t.Errorf("the reason is %q, and the lines are %s; want text for SQS, and a count", reasons[0], b.lines.String())
			}
		})
	}
}

// TestProcessBatch_limit checks that events past their tenant's limit wait with a growing delay,
// however often, and that the events of another tenant do not wait.
func TestProcessBatch_limit(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.Acceptor = limited{b.acceptor}
	batch := []source.Message{b.message("a1", `1`, "tenant", "acme", "event_type", "a"), b.message("g1", `1`, "tenant", "globex", "event_type", "a")}
	if failed := b.ProcessBatch(t.Context(), batch); len(failed) != 0 || b.event(t, "globex", "g1") != "a 1" {
		t.Fatalf("ProcessBatch() fails %v, the event of the other tenant is %s", failed, b.event(t, "globex", "g1"))
	}
	var delays []time.Duration
	for range 1200 { // more than SQS's most receives
		at, _ := b.queue.Next()
		delays = append(delays, at.Sub(b.now))
		b.now = at
		received := b.received()
		if failed := b.ProcessBatch(t.Context(), received); len(failed) != 0 || len(received) != 1 {
			t.Fatalf("ProcessBatch(%v) fails %v", received, failed)
		}
		b.queue.Delete(received[0].ID)
	}
	if !slices.IsSorted(delays) || delays[0] != time.Second || delays[len(delays)-1] != 5*time.Minute {
		t.Errorf("delays = %v; want them to grow from a second to 5 minutes", delays[:12])
	}
	b.Acceptor = b.acceptor
	at, _ := b.queue.Next()
	b.now = at
	if failed := b.ProcessBatch(t.Context(), b.received()); len(failed) != 0 || b.event(t, "acme", "a1") != "a 1" {
		t.Errorf("the event is %s; want it accepted under the id of its first message", b.event(t, "acme", "a1"))
	}
	if slices.ContainsFunc(b.groups, func(g string) bool { return g != "acme" }) {
		t.Errorf("groups = %v; want the tenant", b.groups[:3])
	}
	if !strings.Contains(b.lines.String(), `"event_wait_ms":61000`) {
		t.Error("no line has the wait since the first message")
	}
}

// limited accepts no event of acme.
type limited struct{ source.Acceptor }

func (l limited) AcceptBatch(ctx context.Context, tenant hook.TenantID, requests []ingest.Request) []ingest.Result {
	if tenant == "acme" {
		return fails{&hook.Error{Code: hook.CodeThrottled}}.AcceptBatch(ctx, tenant, requests)
	}
	return l.Acceptor.AcceptBatch(ctx, tenant, requests)
}

// TestProcessBatch_failures checks that SQS keeps the messages that could not be ended.
func TestProcessBatch_failures(t *testing.T) {
	t.Parallel()

	failure := errors.New("no")
	for _, tt := range []struct {
		name   string
		fail   func(*bundle)
		failed []string
	}{
		{"nothing fails", func(*bundle) {}, nil},
		{"a wrong message that cannot be moved stays", func(b *bundle) { b.fails = failure }, []string{"wrong"}},
		{"an event that cannot be stored stays", func(b *bundle) { b.Acceptor = fails{&hook.Error{Code: hook.CodeUnavailable, Err: failure}} }, []string{"right"}},
		{"an event with a fault of ours stays", func(b *bundle) { b.Acceptor = fails{failure} }, []string{"right"}},
		{"a message that cannot wait stays", func(b *bundle) {
			b.Acceptor, b.fails = fails{&hook.Error{Code: hook.CodeThrottled}}, failure
		}, []string{"wrong", "right"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			tt.fail(b)
			got := b.ProcessBatch(t.Context(), []source.Message{b.message("wrong", `{`), b.message("right", `1`, "tenant", "acme", "event_type", "a")})
			if diff := cmp.Diff(tt.failed, got); diff != "" {
				t.Errorf("failed (-want +got):\n%s", diff)
			}
		})
	}
}

// fails is an acceptor that accepts nothing.
type fails struct{ err error }

func (f fails) AcceptBatch(_ context.Context, _ hook.TenantID, requests []ingest.Request) []ingest.Result {
	return slices.Repeat([]ingest.Result{{Err: f.err}}, len(requests))
}

// TestProcessBatch_codes checks what happens to the message of each kind of refusal.
func TestProcessBatch_codes(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		name             string
		err              error
		failed, rejected bool
	}{
		{"wrong input", hook.Invalid(hook.FieldError{Field: "a", Message: "b"}), false, true},
		{"another event type", &hook.Error{Code: hook.CodeMismatch}, false, true},
		{"too large", &hook.Error{Code: hook.CodeTooLarge}, false, true},
		{"past a limit", hook.OverLimit("x"), false, true},
		{"another event with the key", hook.Conflict("x"), false, true},
		{"too many steps for the others of the batch", &hook.Error{Code: hook.CodeTooLarge, Err: ingest.ErrSteps}, true, false},
		{"unchecked for the others of the batch", &hook.Error{Code: hook.CodeMismatch, Err: ingest.ErrSteps}, true, false},
		{"a record that vanished", hook.NotFound("event"), true, false},
		{"an erased event", &hook.Error{Code: hook.CodeConflict, Err: ingest.ErrErased}, false, false},
		{"a tenant under erasure", &hook.Error{Code: hook.CodeTenantClosing}, false, false},
		{"a code of a later build", &hook.Error{Code: 200}, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			b.Acceptor = fails{fmt.Errorf("accept: %w", tt.err)}
			failed := b.ProcessBatch(t.Context(), []source.Message{b.message("m", `"secret"`, "tenant", "acme", "event_type", "a")})
			if (len(failed) == 1) != tt.failed || (len(b.rejects(t)) == 1) != tt.rejected {
				t.Errorf("ProcessBatch() fails %v; want failed %t, rejected %t", failed, tt.failed, tt.rejected)
			}
		})
	}
}

// TestProcessBatch_lines checks that no log line contains a part of a wrong payload.
func TestProcessBatch_lines(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.Acceptor = fails{hook.Invalid(hook.FieldError{Field: "payload", Message: "4111 is no card"})}
	b.ProcessBatch(t.Context(), []source.Message{b.message("m", `"4111"`, "tenant", "acme", "event_type", "a"), b.message("n", `{"4111":1}`)})
	if lines := b.lines.String(); strings.Contains(lines, "4111") || strings.Count(lines, `"code":"invalid"`) != 2 {
		t.Errorf("lines = %s; want the code alone", lines)
	}
}

// TestProcessBatch_room checks that a message has room for the attributes that are added when it
// is sent again.
func TestProcessBatch_room(t *testing.T) {
	t.Parallel()

	b := setup(t)
	const most = 271 << 10
	post := `{"tenant":"acme","event_type":"a","payload":1}`
	b.ProcessBatch(t.Context(), []source.Message{b.message("m1", post+strings.Repeat(" ", most-len(post))), b.message("m2", post+strings.Repeat(" ", most-len(post)+1))})
	if reasons := b.rejects(t); len(reasons) != 1 || !strings.Contains(reasons[0], "at most 277504 bytes") || b.event(t, "acme", "m1") != "a 1" {
		t.Errorf("rejects = %q, event = %s; want the longer message alone", reasons, b.event(t, "acme", "m1"))
	}
}
