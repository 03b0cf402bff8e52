package cost_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/source"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
	"surehook.example/surehook/proof/cost"
)

// post posts n events of the tenant at once: singly, or as a batch when there are several.
func (w *bundle) post(n int) {
	w.t.Helper()

	w.publish(tenant, slices.Repeat([]string{"order.paid"}, n)...)
}

// publish posts an event of each type at once: singly, or as a batch when there are several.
func (w *bundle) publish(to hook.TenantID, types ...string) {
	w.t.Helper()

	events := make([]any, len(types))
	for i, name := range types {
		event := map[string]any{"event_type": name, "payload": json.RawMessage(w.payload())}
		if w.key != "" {
			event["ordering_key"] = w.key
		}
		events[i] = event
	}
	body, path := events[0], "/v1/tenants/"+string(to)+"/events"
	if len(events) > 1 {
		body, path = map[string]any{"events": events}, path+"/batch"
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		w.t.Fatal(err)
	}
	w.invoke(len(types), ingestAtOnce, func() {
		ctx := httpapi.WithPrincipal(w.t.Context(), hook.Principal{Key: "key_0123456789abcdef", Tenant: to, Scopes: []hook.Scope{hook.ScopeEventsWrite}})
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, path, bytes.NewReader(encoded))
		r.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		w.api.ServeHTTP(answer, r)
		if answer.Code != http.StatusAccepted {
			w.t.Fatalf("POST %s = %d %s; want 202", path, answer.Code, answer.Body)
		}
	})
	const apiChunk = 512 << 10
	w.ledger.Add(cost.Usage{cost.APIRequest: float64((len(encoded) + apiChunk - 1) / apiChunk)})
	w.ledger.Add(cost.AccessUsage())
}

// payload returns 500 bytes, mostly random text, compressed by a third.
func (w *bundle) payload() string {
	head := `{"order":"` + w.text() + `","customer":"` + w.text() + `","currency":"EUR","total":12990,"lines":["`
	for len(head) < 496 {
		head += w.text()
	}
	return head[:497] + `"]}`
}

// queued runs ten seconds of events through the events queue to one busy endpoint, sent singly
// or in batches of ten. Function ingest takes them in batches of ten.
func queued(t *testing.T, name string, sent int) cost.Scenario {
	t.Helper()

	w := newBundle(t, full, mixProcesses)
	w.perMinute = 60 * busyRate
	w.endpoint(nil)
	w.warm()
	const deliveries = 10 * busyRate
	for i := range deliveries / full {
		w.acceptQueued(full, sent)
		w.drain((i + 1) * full)
		w.now = w.now.Add(full * time.Second / busyRate)
	}
	w.wantDelivered(deliveries)
	return w.scenario(name, fmt.Sprintf("%d a second to one endpoint, batches of %d for ingest and deliver", busyRate, full), deliveries)
}

// acceptQueued sends n messages, and has one batch accepted. Messages without a group id cost
// no surcharge.
func (w *bundle) acceptQueued(n, sent int) {
	w.t.Helper()

	messages, size := make([]source.Message, n), 0
	for i := range messages {
		messages[i] = source.Message{ID: w.text(), Body: w.payload(), SentAt: w.clock(), Attributes: map[string]string{
			source.AttrTenant: string(tenant), source.AttrEventType: "order.paid",
		}}
		size += len(messages[i].Body)
	}
	for range n / sent {
		w.ledger.Add(cost.QueueUsage(size*sent/n, false))
	}
	w.ledger.Add(cost.QueueUsage(size, false)) // the receive
	w.ledger.Add(cost.QueueUsage(0, false))    // the delete
	w.invoke(n, ingestAtOnce, func() {
		if failed := w.source.ProcessBatch(w.t.Context(), messages); len(failed) > 0 {
			w.t.Fatalf("ProcessBatch() fails %v:\n%s", failed, w.lines.String())
		}
	})
}
