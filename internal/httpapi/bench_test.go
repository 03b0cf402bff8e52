package httpapi_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
	"surehook.example/surehook/proof/work"
)

// accepts is an acceptor that accepts every event.
type accepts struct{ httpapi.Acceptor }

func (accepts) Accept(context.Context, hook.TenantID, ingest.Request) (ingest.Result, error) {
	return ingest.Result{ID: "evt_01h455vb4pex5vsknk084sn02q", Deliveries: 1}, nil
}

func (accepts) AcceptBatch(_ context.Context, _ hook.TenantID, rs []ingest.Request) []ingest.Result {
	results := make([]ingest.Result, len(rs))
	for i := range results {
		results[i] = ingest.Result{ID: "evt_01h455vb4pex5vsknk084sn02q", Deliveries: 1}
	}
	return results
}

// BenchmarkEvents reads posts of events with payloads of 500 bytes and responds to them;
// accepting the events is left out.
func BenchmarkEvents(b *testing.B) {
	h := httpapi.Events(accepts{}, slog.New(slog.DiscardHandler))
	ctx := httpapi.WithPrincipal(b.Context(), hook.Principal{Key: "key_1", Tenant: "acme", Scopes: []hook.Scope{hook.ScopeEventsWrite}})
	event := `{"event_type":"order.paid","payload":{"text":"` + strings.Repeat("x", 489) + `"}}`
	tests := []struct{ name, path, body string }{
		{name: "one", path: "/v1/tenants/acme/events", body: event},
		{name: "batch=100", path: "/v1/tenants/acme/events/batch", body: `{"events":[` + strings.Repeat(event+",", 99) + event + `]}`},
	}
	for _, tt := range tests {
		b.Run(tt.name, func(b *testing.B) {
			b.SetBytes(int64(len(tt.body)))
			for b.Loop() {
				r := httptest.NewRequestWithContext(ctx, http.MethodPost, tt.path, strings.NewReader(tt.body))
				r.Header.Set("Content-Type", "application/json")
				w := httptest.NewRecorder()
				if h.ServeHTTP(w, r); w.Code != http.StatusAccepted {
					b.Fatalf("POST %s = %d %s; want 202", tt.path, w.Code, w.Body)
				}
			}
		})
	}
}

// BenchmarkEvents_large reads posts of 256 KiB that consist of small objects.
func BenchmarkEvents_large(b *testing.B) {
	h := httpapi.Events(accepts{}, slog.New(slog.DiscardHandler))
	ctx := httpapi.WithPrincipal(b.Context(), hook.Principal{Key: "key_1", Tenant: "acme", Scopes: []hook.Scope{hook.ScopeEventsWrite}})
	line := `{"sku":"a-1001","name":"Blue jar","count":3,"price":12.5,"gift":false}`
	body := `{"event_type":"order.paid","payload":[` + strings.Repeat(line+",", 3500) + line + `]}`
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/tenants/acme/events", strings.NewReader(body))
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != http.StatusAccepted {
			b.Fatalf("POST = %d %s; want 202", w.Code, w.Body)
		}
	}
}

// BenchmarkHostilePayloads makes requests with hostile payloads, for an endpoint with a filter and a
// transformation. The ratio is that of the worst payload to small integers of the same size: see
// package work.
func BenchmarkHostilePayloads(b *testing.B) {
	const size = 128 << 10
	api := setup(b)
	api.create(b, `{"url":"https://example.com/","uid":"crm","filter":{"payload":{"a":[{"numeric":[">",100]}]}},"transformation":"{\"body\": event.data}"}`)
	ask := func(path, body string, headers ...string) {
		if _, w := api.ask(b, chief, http.MethodPost, "/v1/tenants/acme"+path, body, headers...); w.Code/100 == 5 || w.Code == http.StatusNotFound {
			b.Fatalf("POST %s = %d %.300s", path, w.Code, w.Body)
		}
	}
	for name, do := range map[string]func(payload []byte){
		"post": func(payload []byte) { ask("/events", `{"event_type":"order.paid","payload":`+string(payload)+`}`) },
		"repeat with a key": func(payload []byte) {
			body := `{"event_type":"order.paid","payload":` + string(payload) + `}`
			ask("/events", body, "Idempotency-Key: k")
			ask("/events", body, "Idempotency-Key: k")
		},
		"preview": func(payload []byte) {
			ask("/endpoints/crm/preview", `{"event_type":"order.paid","payload":`+string(payload)+`}`)
		},
	} {
		b.Run(name, func(b *testing.B) { work.Benchmark(b, size, do) })
	}
}
