package cost_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"

	"surehook/internal/hook"
	"surehook/internal/httpapi"
	"surehook/internal/proof/cost"
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
		events[i] = map[string]any{"event_type": name, "payload": json.RawMessage(w.payload())}
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
