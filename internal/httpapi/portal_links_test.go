package httpapi_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"surehook/internal/hook"
)

// TestPortalLink checks that a link has a key of the tenant in the fragment, with the
// default lifetime and scopes, and that the record of the change has no key in clear.
func TestPortalLink(t *testing.T) {
	t.Parallel()

	b := setup(t)
	link := get[object](t, b, admin, http.StatusCreated, http.MethodPost, "/v1/tenants/acme/portal-links", "")
	text, _ := link["url"].(string)
	u, err := url.Parse(text)
	if err != nil || u.Path != "/portal" || u.RawQuery != "" {
		t.Fatalf("url = %q, %v; want the portal without a query", text, err)
	}
	fragment, err := url.ParseQuery(u.Fragment)
	if err != nil || fragment.Get("tenant") != "acme" || !strings.HasPrefix(fragment.Get("key"), hook.APIKeyPrefix) {
		t.Errorf("fragment = %q, %v; want the tenant and a key", u.Fragment, err)
	}
	keys, err := b.store.Keys(t.Context())
	if err != nil || len(keys) != 1 {
		t.Fatalf("Keys = %v, %v; want one", keys, err)
	}
	k := keys[0]
	if k.Hash != hook.HashKey(fragment.Get("key")) || k.Tenant != "acme" || k.ExpiresAt.Sub(k.CreatedAt) != time.Hour ||
		len(k.Scopes) != 3 || k.Scopes[0] != hook.ScopeRead || k.Scopes[1] != hook.ScopeEndpointsWrite || k.Scopes[2] != hook.ScopeReplay {
		t.Errorf("the key = %+v; want a key of acme for an hour with read, endpoints:write and replay", k)
	}
	w := b.do(t, admin, http.MethodGet, "/v1/tenants/acme/audit", "")
	if body := w.Body.String(); !strings.Contains(body, "portal_link.create") || !strings.Contains(body, string(k.ID)) || strings.Contains(body, hook.APIKeyPrefix) {
		t.Errorf("changes = %s; want the link with the id of its key, without the key", body)
	}
}

func TestPortalLink_invalid(t *testing.T) {
	t.Parallel()

	for body, field := range map[string]string{
		`{"ttl":"24h1s"}`:                       "ttl",
		`{"ttl":"59s"}`:                         "ttl",
		`{"ttl":"-1h"}`:                         "ttl",
		`{"scopes":["read","admin"]}`:           "scopes[1]",
		`{"scopes":["audit"]}`:                  "scopes[0]",
		`{"scopes":["events:write"]}`:           "scopes[0]",
		`{"scopes":[]}`:                         "scopes",
		`{"scopes":["read","read"]}`:            "scopes[1]",
		`{"tenant":"globex","scopes":["read"]}`: "tenant",
	} {
		b := setup(t)
		w := b.do(t, admin, http.MethodPost, "/v1/tenants/acme/portal-links", body)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `"field":"`+field+`"`) {
			t.Errorf("%s = %d %s; want 400 with the field %s", body, w.Code, w.Body, field)
		}
		if keys, err := b.store.Keys(t.Context()); err != nil || len(keys) != 0 {
			t.Errorf("%s left the keys %v, %v; want none", body, keys, err)
		}
	}
	b := setup(t)
	if w := b.do(t, admin, http.MethodPost, "/v1/tenants/acme/portal-links", `{"ttl":"24h","scopes":["read"]}`); w.Code != http.StatusCreated {
		t.Errorf("24h = %d %s; want 201", w.Code, w.Body)
	}
}
