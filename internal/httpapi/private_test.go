package httpapi_test

import (
	"strings"
	"testing"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/private"
)

// TestEndpoints_private checks who may have a private endpoint, how it is shown, and that sending it
// back changes nothing.
func TestEndpoints_private(t *testing.T) {
	t.Parallel()

	b := setup(t)
	list, err := private.Parse([]byte(`[{"cidrs": ["10.20.0.0/16"], "hosts": ["corp.internal"], "ports": [443], "tenants": ["acme"]}]`))
	if err != nil {
		t.Fatal(err)
	}
	b.admin.Origins.Private = list
	writer := func(scopes ...hook.Scope) hook.Principal {
		return hook.Principal{Key: "key_writer", Tenant: "acme", Scopes: append(scopes, hook.ScopeEndpointsWrite)}
	}
	const body = `{"url":"https://erp.corp.internal/hooks","uid":"erp","egress":"private"}`
	link := writer(hook.ScopeRead, hook.ScopeReplay, hook.ScopeTransformations)
	for name, tt := range map[string]struct {
		by           hook.Principal
		method, path string
		body         string
		want         int
		says         string
	}{
		"with the scopes of a portal link": {link, "POST", endpoints, body, 403, "needs the scope private"},
		"of another tenant":                {admin, "POST", "/v1/tenants/globex/endpoints", body, 400, `"field":"egress"`},
		"an unlisted host":                 {admin, "POST", endpoints, `{"url":"https://erp.example.com/","egress":"private"}`, 400, `"field":"url"`},
		"another word":                     {admin, "POST", endpoints, `{"url":"https://erp.corp.internal/","egress":"vpc"}`, 400, "must be one of shared, fixed, private"},
		"the word as region":               {admin, "POST", endpoints, `{"url":"https://erp.corp.internal/","region":"private","egress":"fixed"}`, 400, `"field":"region"`},
		"a portal link with the scope":     {admin, "POST", linksURL, `{"scopes":["read","private"]}`, 400, `"field":"scopes[1]"`},
	} {
		if w := b.do(t, tt.by, tt.method, tt.path, tt.body); w.Code != tt.want || !strings.Contains(w.Body.String(), tt.says) {
			t.Errorf("%s: %d %s; want %d with %s", name, w.Code, w.Body, tt.want, tt.says)
		}
	}
	owner := writer(hook.ScopePrivate)
	const shown = `"region":"","egress":"private"`
	if w := b.do(t, owner, "POST", endpoints, body); w.Code != 201 || !strings.Contains(w.Body.String(), shown) {
		t.Fatalf("POST with the scope = %d %s; want 201 with %s", w.Code, w.Body, shown)
	}
	for name, tt := range map[string]struct {
		method, path, body string
	}{
		"change": {"PATCH", "/erp", `{"description":"x"}`}, "move": {"PATCH", "/erp", `{"url":"https://example.com/","egress":"shared"}`},
		"pause": {"POST", "/erp/pause", ""}, "delete": {"DELETE", "/erp", ""}, "rotate": {"POST", "/erp/rotate-secret", ""},
	} {
		if w := b.do(t, link, tt.method, endpoints+tt.path, tt.body); w.Code != 403 {
			t.Errorf("%s with the scopes of a portal link = %d %s; want 403", name, w.Code, w.Body)
		}
	}
	if w := b.do(t, owner, "PATCH", endpoints+"/erp", `{`+shown+`}`); w.Code != 200 || !strings.Contains(w.Body.String(), shown) || !strings.Contains(w.Body.String(), `"version":1`) {
		t.Errorf("PATCH of what is shown = %d %s; want nothing changed", w.Code, w.Body)
	}
	if w := b.do(t, reader, "GET", "/v1/tenants/acme/egress", ""); !strings.Contains(w.Body.String(), `"private":true`) {
		t.Errorf("GET of the choices = %s; want private", w.Body)
	}
	if w := b.do(t, admin, "GET", "/v1/tenants/globex/egress", ""); !strings.Contains(w.Body.String(), `"private":false`) {
		t.Errorf("GET of another tenant's choices = %s; want none private", w.Body)
	}
}
