package httpapi_test

import (
	"strings"
	"testing"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/private"
)

func attackSetup(t *testing.T) (b *bundle, writer hook.Principal, erp, open string) {
	t.Helper()

	b = setup(t)
	list, err := private.Parse([]byte(`[{"cidrs": ["10.20.0.0/16"], "hosts": ["corp.internal", "corp.example.com"], "ports": [443], "tenants": ["acme"]}]`))
	if err != nil {
		t.Fatal(err)
	}
	b.admin.Origins.Private = list
	writer = hook.Principal{Key: "key_writer", Tenant: "acme", Scopes: []hook.Scope{hook.ScopeEndpointsWrite, hook.ScopeRead, hook.ScopeReplay, hook.ScopeTransformations, hook.ScopeEventsWrite}}
	owner := writer
	owner.Scopes = append([]hook.Scope{hook.ScopePrivate}, writer.Scopes...)
	erp = idOf(t, get[object](t, b, owner, 201, "POST", endpoints, `{"url":"https://erp.corp.internal/hooks","uid":"erp","egress":"private","headers":{"X-Key":"k"}}`))
	open = idOf(t, get[object](t, b, owner, 201, "POST", endpoints, `{"url":"https://example.com/hooks","uid":"open","event_types":["never"]}`))
	return b, writer, erp, open
}

// TestAttack_Endpoints_privateStops: what stops or starts a private endpoint, without the scope.
func TestAttack_Endpoints_privateStops(t *testing.T) {
	t.Parallel()

	b, writer, _, _ := attackSetup(t)
	for _, path := range []string{
		"/pause", "/disable", "/resume", "/enable", "/rotate-secret", "/end-overlap",
		"/circuit/open", "/circuit/reset", "/circuit/probe",
	} {
		if w := b.do(t, writer, "POST", endpoints+"/erp"+path, ""); w.Code != 403 {
			t.Errorf("POST %s without the scope private = %d %.120s; want 403", path, w.Code, w.Body)
		}
	}
}

// TestAttack_Endpoints_privateChange: every way to make or change a private endpoint that a body has.
func TestAttack_Endpoints_privateChange(t *testing.T) {
	t.Parallel()

	b, writer, erp, open := attackSetup(t)
	var lists []string
	for _, who := range []string{"erp", erp} {
		for _, body := range []string{
			`{}`, `{"url":"https://erp.corp.internal/x"}`, `{"url":"https://example.com/x","egress":"shared"}`, `{"egress":"shared"}`, `{"egress":"fixed"}`, `{"region":"us-east-1"}`, `{"region":"us-east-1","egress":"shared","url":"https://example.com/"}`,
			`{"region":"","egress":"private"}`, `{"headers":{"X-Key":""}}`, `{"tls":null}`, `{"auth":{"type":"bearer","token":"t"}}`, `{"description":"x"}`, `{"transformation":""}`, `{"event_types":["*"]}`, `{"timeout":"1s"}`, `{"rate_per_second":0.1}`, `{"shards":2}`, `{"metadata":{"a":"b"}}`,
		} {
			lists = append(lists, body)
			if w := b.do(t, writer, "PATCH", endpoints+"/"+who, body); w.Code != 403 && w.Code != 400 || w.Code == 400 && strings.Contains(body, "egress") {
				t.Errorf("PATCH %s of %s = %d %.150s; want 403", body, who, w.Code, w.Body)
			}
		}
		if w := b.do(t, writer, "DELETE", endpoints+"/"+who, ""); w.Code != 403 {
			t.Errorf("DELETE = %d", w.Code)
		}
	}
	for _, body := range []string{
		`{"egress":"private"}`, `{"egress":"private","url":"https://erp.corp.internal/"}`, `{"region":"private"}`, `{"region":"private","egress":"fixed"}`, `{"region":"private","egress":"shared"}`, `{"region":"private","egress":"private"}`, `{"egress":"Private"}`, `{"egress":"private "}`, `{"egress":3}`, `{"Egress":"private"}`, `{"egress":"shared","egress":"private"}`, `{"fixed":true,"region":"private"}`, `{"egress":null,"region":"private"}`,
		`{"url":"https://erp.corp.internal/"}`, `{"url":"https://10.20.0.5/"}`, `{"url":"https://[fd12:3456::1]/"}`, `{"auth":{"type":"oauth2","client_id":"c","client_secret":"s","token_url":"https://10.20.0.5/token"}}`, `{"auth":{"type":"oauth2","client_id":"c","client_secret":"s","token_url":"https://erp.corp.internal/token"}}`,
	} {
		if w, _ := b.ask(t, writer, "PATCH", endpoints+"/"+open, body); w == nil {
			t.Fatal()
		}
		_, w := b.ask(t, writer, "PATCH", endpoints+"/"+open, body)
		if w.Code != 403 && w.Code != 400 {
			t.Errorf("PATCH %s of a public endpoint = %d %.150s; want 403 or 400", body, w.Code, w.Body)
		}
		created := strings.Replace(body, "{", `{"uid":"u",`, 1)
		if !strings.Contains(body, `"url"`) {
			created = strings.Replace(created, "{", `{"url":"https://erp.corp.example.com/",`, 1)
		}
		_, w = b.ask(t, writer, "POST", endpoints, created)
		if w.Code != 403 && w.Code != 400 {
			t.Errorf("POST %s = %d %.150s; want 403 or 400", created, w.Code, w.Body)
		}
	}
	w := b.do(t, writer, "GET", endpoints+"/erp", "")
	if !strings.Contains(w.Body.String(), `"egress":"private"`) || !strings.Contains(w.Body.String(), `"version":1,`) || !strings.Contains(w.Body.String(), `"status":"active"`) {
		t.Errorf("the private endpoint is %s after %d attacks", w.Body, len(lists))
	}
	if w := b.do(t, writer, "GET", endpoints+"/open", ""); !strings.Contains(w.Body.String(), `"egress":"shared"`) || !strings.Contains(w.Body.String(), `"version":1,`) {
		t.Errorf("the public endpoint is %s", w.Body)
	}
}

// TestAttack_Preview: a preview of a private endpoint sends nothing, and masks its secrets.
func TestAttack_Preview(t *testing.T) {
	t.Parallel()

	b, writer, _, _ := attackSetup(t)
	w := b.do(t, writer, "POST", endpoints+"/erp/preview", `{"event_type":"a","payload":{}}`)
	if strings.Contains(w.Body.String(), `"k"`) {
		t.Errorf("a preview shows a stored header: %s", w.Body)
	}
}

// TestAttack_Keys: no other scope leads to the scope private.
func TestAttack_Keys(t *testing.T) {
	t.Parallel()

	b, _, _, _ := attackSetup(t)
	for _, s := range hook.Scopes() {
		for _, tenant := range []hook.TenantID{"acme", hook.AllTenants} {
			p := hook.Principal{Key: "key_1", Tenant: tenant, Scopes: []hook.Scope{s}}
			mayKeys := s == hook.ScopeAdmin && tenant == hook.AllTenants
			if w := b.do(t, p, "POST", "/v1/keys", `{"name":"n","tenant":"acme","scopes":["private","endpoints:write"]}`); (w.Code == 201) != mayKeys {
				t.Errorf("POST /v1/keys by %s of %s = %d", s, tenant, w.Code)
			}
			if w := b.do(t, p, "POST", linksURL, `{"scopes":["endpoints:write","private"]}`); w.Code == 201 {
				t.Errorf("a portal link with private by %s = %d", s, w.Code)
			}
			if w := b.do(t, p, "POST", linksURL, `{"scopes":["admin"]}`); w.Code == 201 {
				t.Errorf("a portal link with admin by %s = %d", s, w.Code)
			}
			if s != hook.ScopeAdmin {
				if w := b.do(t, p, "POST", endpoints, `{"url":"https://erp.corp.internal/","egress":"private"}`); w.Code == 201 {
					t.Errorf("%s alone makes a private endpoint", s)
				}
			}
		}
	}
}
