package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
)

// TestAccess_restrictions calls every route with an expired key, and with a key for another
// network whose headers claim an allowed address. API Gateway caches the authorizer's answer by
// the key alone, so each route must check the restriction.
func TestAccess_restrictions(t *testing.T) {
	t.Parallel()

	b := setup(t)
	for _, r := range httpapi.Routes() {
		if r.Public {
			continue
		}
		path := strings.NewReplacer("{tenant}", "acme", "{", "", "}", "").Replace(r.Path)
		call := func(restriction hook.Restriction, from string) *httptest.ResponseRecorder {
			p := admin
			p.Restriction = restriction
			req := httptest.NewRequestWithContext(httpapi.WithPrincipal(t.Context(), p), r.Method, path, nil)
			req.RemoteAddr = from
			for _, name := range []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip"} {
				req.Header.Set(name, "192.0.2.1")
			}
			w := httptest.NewRecorder()
			b.handler(r.Method, path).ServeHTTP(w, req)
			return w
		}
		office := hook.Restriction{Networks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}
		expired, want := call(hook.Restriction{ExpiresAt: time.Unix(1, 0)}, "192.0.2.1"), plain(401, "unauthorized", "the API key has expired")
		if expired.Code != http.StatusUnauthorized || expired.Body.String() != want {
			t.Errorf("%s %s with an expired key = %d %s; want 401 %s", r.Method, path, expired.Code, expired.Body, want)
		}
		want = plain(403, "forbidden", "the API key is limited to other networks")
		for _, from := range []string{"198.51.100.1", "198.51.100.1:80", "[2001:db8::1]:80", ""} {
			if w := call(office, from); w.Code != http.StatusForbidden || w.Body.String() != want {
				t.Errorf("%s %s from %q = %d %s; want 403 %s", r.Method, path, from, w.Code, w.Body, want)
			}
		}
		for _, from := range []string{"192.0.2.9", "192.0.2.9:80", "[::ffff:192.0.2.9]:80"} {
			if w := call(office, from); w.Code == http.StatusUnauthorized || w.Code == http.StatusForbidden {
				t.Errorf("%s %s from %s = %d %s; want the route", r.Method, path, from, w.Code, w.Body)
			}
		}
	}
}

// TestKeys_restrictions checks that the restriction of a key is shown in the response to its
// creation and in lists.
func TestKeys_restrictions(t *testing.T) {
	t.Parallel()

	b := setup(t)
	const restriction = `"expires_at":"2027-01-01T00:00:00.000Z","allowed_networks":["192.0.2.0/24","2001:db8::/32"]`
	w := b.do(t, admin, "POST", "/v1/keys", `{"name":"a","tenant":"acme","scopes":["read"],`+restriction+`}`)
	if w.Code != http.StatusCreated || !strings.Contains(w.Body.String(), restriction) {
		t.Errorf("POST = %d %s; want 201 with %s", w.Code, w.Body, restriction)
	}
	if w := b.do(t, admin, "GET", "/v1/keys", ""); !strings.Contains(w.Body.String(), restriction) {
		t.Errorf("GET = %d %s; want %s", w.Code, w.Body, restriction)
	}
	for field, body := range map[string]string{"expires_at": `"expires_at":"2026-11-21T09:30:00Z"`, "allowed_networks": `"allowed_networks":[]`} {
		w := b.do(t, admin, "POST", "/v1/keys", `{"name":"a","tenant":"acme","scopes":["read"],`+body+`}`)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), field) {
			t.Errorf("POST with %s = %d %s; want 400 for %s", body, w.Code, w.Body, field)
		}
	}
}
