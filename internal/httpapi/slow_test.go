package httpapi_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
)

// slow takes some time to accept an event.
type slow struct {
	accepts

	after time.Duration
}

func (s slow) Accept(ctx context.Context, tenant hook.TenantID, r ingest.Request) (ingest.Result, error) {
	time.Sleep(s.after) // virtual time
	return s.accepts.Accept(ctx, tenant, r)
}

// TestEvents_post_slow checks that the line of a single post has a duration only if the post was
// slow.
func TestEvents_post_slow(t *testing.T) {
	t.Parallel()

	for after, want := range map[time.Duration]string{99 * time.Millisecond: "", 100 * time.Millisecond: `"duration_ms":100`, 2 * time.Second: `"duration_ms":2000`} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			ctx := httpapi.WithPrincipal(t.Context(), hook.Principal{Key: "key_1", Tenant: "acme", Scopes: hook.Scopes()})
			r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/tenants/acme/events", strings.NewReader(`{"event_type":"a","payload":1}`))
			r.Header.Set("Content-Type", "application/json")
			httpapi.Events(slow{after: after}, slog.New(slog.NewJSONHandler(&log, nil))).ServeHTTP(httptest.NewRecorder(), r)
			if line := log.String(); !strings.Contains(line, want) || (want == "") == strings.Contains(line, "duration_ms") {
				t.Errorf("the line of a post of %s is %s; want %q in it, from 100 ms on", after, line, want)
			}
		})
	}
}
