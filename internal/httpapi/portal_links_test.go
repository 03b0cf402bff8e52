package httpapi_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"surehook.example/surehook/internal/admin/apikey"
	"surehook.example/surehook/internal/hook"
)

const (
	linksURL   = "/v1/tenants/acme/portal-links"
	sessionURL = "/v1/tenants/acme/portal-session"
)

// noAdmin is a stack whose admin key none of the tests knows.
type noAdmin struct{}

// AdminKey returns a new key.
func (noAdmin) AdminKey(context.Context) (string, error) { return hook.NewKeyText(), nil }

// caller identifies the key as the authorizer does; the zero principal is nobody.
func (b *bundle) caller(t *testing.T, key string) hook.Principal {
	t.Helper()

	a := &apikey.Authenticator{Keys: b.store, Admin: noAdmin{}, Log: slog.New(slog.DiscardHandler), Now: b.keys.Now}
	p, err := a.Identify(t.Context(), "Bearer "+key)
	if err != nil && hook.CodeOf(err) != hook.CodeUnauthorized {
		t.Fatalf("Identify() = %v", err)
	}
	p.Restriction = hook.Restriction{} // of the clock of the test, and the router has the machine's
	return p
}

// portalLink makes a link and returns its id and code.
func (b *bundle) portalLink(t *testing.T, body string) (id, code string) {
	t.Helper()

	link := get[object](t, b, admin, http.StatusCreated, http.MethodPost, linksURL, body)
	text, _ := link["url"].(string)
	u, err := url.Parse(text)
	if err != nil || u.Path != "/portal" || u.RawQuery != "" {
		t.Fatalf("url = %q, %v; want the portal without a query", text, err)
	}
	fragment, err := url.ParseQuery(u.Fragment)
	if err != nil || len(fragment) != 2 || fragment.Get("tenant") != "acme" {
		t.Fatalf("fragment = %q, %v; want the tenant and a code", u.Fragment, err)
	}
	id, _ = link["key_id"].(string)
	return id, fragment.Get("code")
}

func codeBody(code string) string { return `{"code":"` + code + `"}` }

// TestPortalLink follows a link from its creation to the sign-out: the code is not a key and
// opens the link once, and neither the code nor the key appears in a record, in the log or in the
// list of keys.
func TestPortalLink(t *testing.T) {
	t.Parallel()

	b := setup(t)
	id, code := b.portalLink(t, "")
	if b.caller(t, code).Key != "" {
		t.Error("the code is a key")
	}
	b.now = b.now.Add(9 * time.Minute)
	opened := get[object](t, b, nobody, http.StatusCreated, http.MethodPost, sessionURL, codeBody(code))
	key, _ := opened["key"].(string)
	p := b.caller(t, key)
	if string(p.Key) != id || p.Tenant != "acme" || !slices.Equal(p.Scopes, apikey.PortalScopes()) || opened["expires_at"] != "2026-11-21T10:30:00.000Z" {
		t.Errorf("opened %v, a key of %+v; want all scopes for an hour from the creation of the link", opened, p)
	}
	if list := get[struct{ Data []object }](t, b, admin, 200, http.MethodGet, "/v1/keys", ""); len(list.Data) != 0 {
		t.Errorf("keys = %v; want none: the list is of people's keys", list.Data)
	}
	w := b.do(t, nobody, http.MethodPost, sessionURL, codeBody(code))
	if want := plain(409, "conflict", "the portal link was used already: a link opens once"); w.Code != 409 || w.Body.String() != want {
		t.Errorf("the code again = %d %s; want %s", w.Code, w.Body, want)
	}
	if w := b.do(t, p, http.MethodDelete, sessionURL, ""); w.Code != http.StatusNoContent {
		t.Errorf("sign out = %d %s; want 204", w.Code, w.Body)
	}
	if b.caller(t, key).Key != "" {
		t.Error("the key works after the sign-out")
	}
	// API Gateway still has the caller in its cache, for a minute.
	if w := b.do(t, p, http.MethodDelete, sessionURL, ""); w.Code != http.StatusNotFound {
		t.Errorf("sign out again = %d %s; want 404", w.Code, w.Body)
	}
	changes := b.do(t, admin, http.MethodGet, "/v1/tenants/acme/audit", "").Body.String()
	for _, action := range []string{"portal_link.create", "portal_session.open", "portal_session.end"} {
		if !strings.Contains(changes, action) {
			t.Errorf("changes = %s; want %s", changes, action)
		}
	}
	for _, secret := range []string{code, key} {
		if strings.Contains(changes+b.log.String(), secret) {
			t.Errorf("%s is in the changes or in the log", secret)
		}
	}
}

// TestPortalLink_refused checks that a refused code changes nothing, and that the response says
// nothing about tenants.
func TestPortalLink_refused(t *testing.T) {
	t.Parallel()

	b := setup(t)
	_, code := b.portalLink(t, `{"ttl":"1h"}`)
	_, short := b.portalLink(t, `{"ttl":"1m"}`)
	changes := func() int { return len(b.recorded(t)) }
	before := changes()
	other := code[:len(code)-1] + "A"
	if other == code {
		other = code[:len(code)-1] + "B"
	}
	unknown := plain(404, "not_found", "the portal link is not known, or was not opened in time")
	tests := []struct {
		name, path, body string
		after            time.Duration
		status           int
		want             string // empty: any body
	}{
		{name: "another code of the link", path: sessionURL, body: codeBody(other), status: 404, want: unknown},
		{name: "the code in another tenant", path: strings.Replace(sessionURL, "acme", "globex", 1), body: codeBody(code), status: 404, want: unknown},
		{name: "a code of no link", path: sessionURL, body: codeBody(hook.NewLinkCode(hook.NewKeyID())), status: 404, want: unknown},
		{name: "a code of another key", path: sessionURL, body: codeBody(hook.NewLinkCode("key_0123456789abcdef")), status: 404, want: unknown},
		{name: "a key", path: sessionURL, body: codeBody(hook.NewKeyText()), status: 400},
		{name: "an id", path: sessionURL, body: codeBody("key_0123456789abcdef"), status: 400},
		{name: "nothing", path: sessionURL, body: "", status: 400},
		{name: "no code", path: sessionURL, body: `{}`, status: 400},
		{name: "two codes", path: sessionURL, body: `{"code":"` + code + `","code":"` + code + `"}`, status: 400},
		{name: "a list", path: sessionURL, body: `{"code":["` + code + `"]}`, status: 400},
		{name: "a scope", path: sessionURL, body: `{"code":"` + code + `","scopes":["admin"]}`, status: 400},
		{name: "much", path: sessionURL, body: `{"code":"` + strings.Repeat("a", 1024) + `"}`, status: 413},
		{name: "an invalid tenant", path: "/v1/tenants/a%20b/portal-session", body: codeBody(code), status: 400},
		{name: "the short link at its end", path: sessionURL, body: codeBody(short), after: time.Minute, status: 404, want: unknown},
		{name: "the link after ten minutes", path: sessionURL, body: codeBody(code), after: 9 * time.Minute, status: 404, want: unknown},
	}
	for _, tt := range tests {
		b.now = b.now.Add(tt.after)
		w := b.do(t, nobody, http.MethodPost, tt.path, tt.body)
		if w.Code != tt.status || tt.want != "" && w.Body.String() != tt.want {
			t.Errorf("%s = %d %s; want %d %s", tt.name, w.Code, w.Body, tt.status, tt.want)
		}
		if got := changes(); got != before {
			t.Errorf("%s left %d records of changes; want none: the caller has no key", tt.name, got-before)
		}
	}
}

// TestPortalLink_race checks that of 20 callers with the same code, one gets a key.
func TestPortalLink_race(t *testing.T) {
	t.Parallel()

	b := setup(t)
	_, code := b.portalLink(t, "")
	answers := make([]*httptest.ResponseRecorder, 20)
	var racers sync.WaitGroup
	for i := range answers {
		racers.Go(func() { _, answers[i] = b.ask(t, nobody, http.MethodPost, sessionURL, codeBody(code)) })
	}
	racers.Wait()
	won := 0
	for _, w := range answers {
		switch w.Code {
		case http.StatusCreated:
			won++
		case http.StatusConflict:
		default:
			t.Errorf("answer = %d %s; want 201 or 409", w.Code, w.Body)
		}
	}
	if won != 1 {
		t.Errorf("%d callers got a key; want one", won)
	}
}

// TestPortalLink_ends checks that an operator can end a link before and after it is opened, but
// only in its tenant.
func TestPortalLink_ends(t *testing.T) {
	t.Parallel()

	for _, open := range []bool{false, true} {
		b := setup(t)
		id, code := b.portalLink(t, "")
		key := ""
		if open {
			key, _ = get[object](t, b, nobody, http.StatusCreated, http.MethodPost, sessionURL, codeBody(code))["key"].(string)
		}
		if w := b.do(t, admin, http.MethodDelete, "/v1/tenants/globex/portal-links/"+id, ""); w.Code != http.StatusNotFound {
			t.Errorf("DELETE in another tenant = %d %s; want 404", w.Code, w.Body)
		}
		if w := b.do(t, admin, http.MethodDelete, linksURL+"/"+id, ""); w.Code != http.StatusNoContent {
			t.Errorf("DELETE = %d %s; want 204", w.Code, w.Body)
		}
		if w := b.do(t, admin, http.MethodDelete, linksURL+"/"+id, ""); w.Code != http.StatusNotFound {
			t.Errorf("DELETE again = %d %s; want 404", w.Code, w.Body)
		}
		if w := b.do(t, nobody, http.MethodPost, sessionURL, codeBody(code)); w.Code != http.StatusNotFound {
			t.Errorf("the code of the ended link = %d %s; want 404", w.Code, w.Body)
		}
		if open && b.caller(t, key).Key != "" {
			t.Error("the key works after the end of its link")
		}
	}
}

// TestPortalSession_ownKeyOnly checks that the key of a link can end itself, whatever its scopes,
// and nothing else, and that other keys cannot end themselves.
func TestPortalSession_ownKeyOnly(t *testing.T) {
	t.Parallel()

	b := setup(t)
	open := func(scopes string) hook.Principal {
		_, code := b.portalLink(t, `{"scopes":[`+scopes+`]}`)
		key, _ := get[object](t, b, nobody, http.StatusCreated, http.MethodPost, sessionURL, codeBody(code))["key"].(string)
		return b.caller(t, key)
	}
	victim := open(`"read"`)
	for _, scope := range []string{`"read"`, `"endpoints:write"`, `"replay"`} {
		p := open(scope)
		for _, path := range []string{linksURL + "/" + string(victim.Key), linksURL + "/" + string(p.Key), "/v1/keys/" + string(p.Key)} {
			if w := b.do(t, p, http.MethodDelete, path, ""); w.Code != http.StatusForbidden {
				t.Errorf("DELETE %s by a link with %s = %d %s; want 403", path, scope, w.Code, w.Body)
			}
		}
		if w := b.do(t, p, http.MethodDelete, "/v1/tenants/globex/portal-session", ""); w.Code != http.StatusNotFound {
			t.Errorf("DELETE in another tenant = %d %s; want 404", w.Code, w.Body)
		}
		if w := b.do(t, p, http.MethodPost, linksURL, `{}`); w.Code != http.StatusForbidden {
			t.Errorf("a new link by a link = %d %s; want 403", w.Code, w.Body)
		}
		if w := b.do(t, p, http.MethodDelete, sessionURL, ""); w.Code != http.StatusNoContent {
			t.Errorf("sign out with %s = %d %s; want 204", scope, w.Code, w.Body)
		}
	}
	if _, err := b.store.Link(t.Context(), "acme", victim.Key); err != nil {
		t.Errorf("Link(victim) = %v; want the link", err)
	}
	k, _, err := b.keys.Create(t.Context(), apikey.Request{Name: "backend", Tenant: "acme", Scopes: []hook.Scope{hook.ScopeRead}})
	if err != nil {
		t.Fatal(err)
	}
	if w := b.do(t, hook.Principal{Key: k.ID, Tenant: "acme", Scopes: k.Scopes}, http.MethodDelete, sessionURL, ""); w.Code != http.StatusNotFound {
		t.Errorf("sign out of a backend = %d %s; want 404", w.Code, w.Body)
	}
	if keys, err := b.store.Keys(t.Context()); err != nil || len(keys) != 1 {
		t.Errorf("Keys() = %v, %v; want the key of the backend", keys, err)
	}
}

// TestPortalSession_closing checks that a link of a tenant that is being erased cannot be opened.
func TestPortalSession_closing(t *testing.T) {
	t.Parallel()

	b := setup(t)
	_, code := b.portalLink(t, "")
	if _, _, err := b.eraser.Start(t.Context(), "acme", "key_1"); err != nil {
		t.Fatal(err)
	}
	if w := b.do(t, nobody, http.MethodPost, sessionURL, codeBody(code)); w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "tenant_closing") {
		t.Errorf("the code of a tenant in erasure = %d %s; want 409 tenant_closing", w.Code, w.Body)
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
		w := b.do(t, admin, http.MethodPost, linksURL, body)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `"field":"`+field+`"`) {
			t.Errorf("%s = %d %s; want 400 with the field %s", body, w.Code, w.Body, field)
		}
		if left := b.store.Remains("acme"); len(left) != 0 {
			t.Errorf("%s left %v; want nothing", body, left)
		}
	}
	b := setup(t)
	if w := b.do(t, admin, http.MethodPost, linksURL, `{"ttl":"24h","scopes":["read"]}`); w.Code != http.StatusCreated {
		t.Errorf("24h = %d %s; want 201", w.Code, w.Body)
	}
}

// TestPortalLink_endsPastTheLimit checks that the visitors of a link cannot keep it open by using up the
// changes of the tenant.
func TestPortalLink_endsPastTheLimit(t *testing.T) {
	t.Parallel()

	b := setup(t)
	id, _ := b.portalLink(t, "")
	if w := b.do(t, admin, http.MethodPut, "/v1/tenants/acme/limits", `{"changes_per_hour":1}`); w.Code != http.StatusOK {
		t.Fatalf("PUT of the limits = %d %s", w.Code, w.Body)
	}
	visitor := hook.Principal{Key: hook.KeyID(id), Tenant: "acme", Scopes: apikey.PortalScopes()}
	last := 0
	for range 2 {
		last = b.do(t, visitor, http.MethodPost, endpoints, `{"url":"https://example.com/"}`).Code
	}
	if last != http.StatusTooManyRequests {
		t.Fatalf("the last change of the visitor = %d; want 429", last)
	}
	if w := b.do(t, admin, http.MethodDelete, linksURL+"/"+id, ""); w.Code != http.StatusNoContent {
		t.Errorf("DELETE of the link = %d %s; want 204", w.Code, w.Body)
	}
}
