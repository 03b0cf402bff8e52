package httpapi_test

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"surehook/internal/hook"
	"surehook/internal/httpapi"
	"surehook/internal/ingest"
)

// refuser is an acceptor that refuses everything.
type refuser struct{ err error }

func (r refuser) Accept(context.Context, hook.TenantID, ingest.Request) (ingest.Result, error) {
	return ingest.Result{}, r.err
}

func (r refuser) AcceptBatch(_ context.Context, _ hook.TenantID, rs []ingest.Request) []ingest.Result {
	return slices.Repeat([]ingest.Result{{Err: r.err}}, len(rs))
}

// refuse makes every post of an event end in the error.
func (b *bundle) refuse(err error) {
	b.events = httpapi.Events(refuser{err}, slog.New(slog.NewJSONHandler(b.log, nil)))
}

// TestScopes takes every route with a key of every scope.
func TestScopes(t *testing.T) {
	t.Parallel()

	path := strings.NewReplacer(
		"{tenant}", "acme", "{endpoint}", "ep_0000000000000000", "{event}", string(hook.KeyedEventID("acme", "k")),
		"{delivery}", "dlv_01jb2z8v9kfq6t3m5n7p9r1s2w_0000000000000000_1", "{key}", "key_0000000000000000",
	)
	for _, r := range httpapi.Routes() {
		t.Run(r.Method+" "+r.Path, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			target := path.Replace(r.Path)
			if w := b.do(t, nobody, r.Method, target, ""); w.Code != http.StatusUnauthorized {
				t.Errorf("without a key = %d; want 401", w.Code)
			}
			for _, scope := range hook.Scopes() {
				p := hook.Principal{Key: "key_1", Tenant: hook.AllTenants, Scopes: []hook.Scope{scope}}
				allowed := scope == r.Scope || scope == hook.ScopeAdmin
				if w := b.do(t, p, r.Method, target, ""); (w.Code != http.StatusForbidden) != allowed || w.Code == http.StatusInternalServerError {
					t.Errorf("with the scope %s = %d %s; allowed: %t", scope, w.Code, w.Body, allowed)
				}
			}
			none := hook.Principal{Key: "key_1", Tenant: hook.AllTenants}
			if w := b.do(t, none, r.Method, target, ""); w.Code != http.StatusForbidden {
				t.Errorf("with no scope = %d; want 403", w.Code)
			}
			want := http.StatusNotFound
			if r.AllTenants {
				want = http.StatusForbidden
			}
			if w := b.do(t, rival, r.Method, target, ""); w.Code != want {
				t.Errorf("with another tenant's key = %d; want %d", w.Code, want)
			}
		})
	}
}

// TestOtherTenants takes every route that names something with another
// tenant's thing and with one that does not exist: no caller can tell them apart.
func TestOtherTenants(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e := b.create(t, `{"url":"https://example.com/","uid":"crm"}`)
	accepted := get[object](t, b, owner, http.StatusAccepted, http.MethodPost, eventsURL, `{"type":"a","payload":1}`)
	endpoint, event := idOf(t, e), idOf(t, accepted)
	delivery := hook.DeliveryID{Event: hook.EventID(event), Endpoint: hook.EndpointID(endpoint), Generation: 1}
	stranger := hook.DeliveryID{Event: hook.KeyedEventID("acme", "x"), Endpoint: hook.NewEndpointID(), Generation: 1}

	names := map[string][2]string{
		"{endpoint}": {endpoint, string(stranger.Endpoint)},
		"{event}":    {event, string(stranger.Event)},
		"{delivery}": {delivery.String(), stranger.String()},
	}
	for _, r := range httpapi.Routes() {
		for name, ids := range names {
			if !strings.Contains(r.Path, name) {
				continue
			}
			for _, tenant := range []string{"globex", "acme"} { // their own path, and the owner's
				path := strings.ReplaceAll(r.Path, "{tenant}", tenant)
				if strings.HasSuffix(path, "{endpoint}/deliveries") {
					path += "?state=dead"
				}
				body := ""
				if r.Method == http.MethodPatch {
					body = "{}"
				}
				existing := b.do(t, rival, r.Method, strings.ReplaceAll(path, name, ids[0]), body)
				unknown := b.do(t, rival, r.Method, strings.ReplaceAll(path, name, ids[1]), body)
				if existing.Code != http.StatusNotFound || existing.Body.String() != unknown.Body.String() {
					t.Errorf("%s %s = %d %s for another tenant's, %d %s for an unknown one; want the same 404",
						r.Method, path, existing.Code, existing.Body, unknown.Code, unknown.Body)
				}
			}
		}
	}
	if w := b.do(t, rival, http.MethodGet, "/v1/tenants/globex/endpoints/crm", ""); w.Code != http.StatusNotFound {
		t.Errorf("another tenant's uid = %d; want 404", w.Code)
	}
	if w := b.do(t, owner, http.MethodGet, endpoints+"/crm", ""); w.Code != http.StatusOK {
		t.Errorf("the owner's uid = %d; want 200", w.Code)
	}
}
