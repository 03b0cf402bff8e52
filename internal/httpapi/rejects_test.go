package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"surehook.example/surehook/internal/delivery/source"
)

// TestRejects lists and redrives rejects through the API.
func TestRejects(t *testing.T) {
	t.Parallel()

	b := setup(t)
	m := source.Message{Body: `{"order":"` + strings.Repeat("é", 4096) + `"}`, Attributes: map[string]string{
		source.AttrTenant: "acme", source.AttrEventType: "a b", source.AttrIdempotencyKey: "k", source.AttrID: "m0", source.AttrReason: "event_type: is wrong",
	}}
	if err := b.sources.Reject(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if err := b.sources.Reject(t.Context(), source.Message{Body: "1"}); err != nil {
		t.Fatal(err)
	}
	w := b.do(t, admin, http.MethodGet, "/v1/rejects", "")
	for _, part := range []string{`"id":"m0"`, `"reason":"event_type: is wrong"`, `"tenant":"acme"`, `"event_type":"a b"`, `"idempotency_key":"k"`, `"cut":true`, `"body":"1","cut":false`} {
		if !strings.Contains(w.Body.String(), part) {
			t.Errorf("GET /v1/rejects = %d %s; want %s", w.Code, w.Body, part)
		}
	}
	for target, want := range map[string]int{"?limit=1": 200, "?limit=0": 400, "?cursor=x": 400, "?tenant=acme": 400} {
		if w := b.do(t, admin, http.MethodGet, "/v1/rejects"+target, ""); w.Code != want {
			t.Errorf("GET /v1/rejects%s = %d; want %d", target, w.Code, want)
		}
	}
	for range 2 {
		if w := b.do(t, admin, http.MethodPost, "/v1/rejects/redrive", ""); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"more":false`) {
			t.Errorf("redrive = %d %s; want 200", w.Code, w.Body)
		}
	}
	if got := b.sources.Events(10); len(got) != 2 || len(b.sources.AllRejects()) != 0 {
		t.Errorf("%d events and %d rejects; want 2 and none", len(got), len(b.sources.AllRejects()))
	}
}
