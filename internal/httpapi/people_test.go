package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
)

func TestAccess_people(t *testing.T) {
	t.Parallel()

	ann := func(scopes ...hook.Scope) hook.Principal {
		return hook.Principal{Key: hook.PersonID("ann@example.com"), Name: "ann@example.com (1)", Tenant: hook.AllTenants, Scopes: scopes}
	}
	late := ann(hook.ScopeAdmin)
	late.ExpiresAt = time.Now().Add(-time.Millisecond)
	const newKey = `{"name":"a","tenant":"*","scopes":["admin"]}`
	tests := []struct {
		name, method, path, body string
		by                       hook.Principal
		status                   int
		want                     string
	}{
		{name: "an operator lists keys", by: ann(hook.ScopeAdmin), method: http.MethodGet, path: "/v1/keys", status: 200},
		{name: "an operator makes no key", by: ann(hook.ScopeAdmin), method: http.MethodPost, path: "/v1/keys", body: newKey, status: 403, want: "an API key is needed"},
		{name: "a person ends no session of a portal", by: ann(hook.ScopeAdmin), method: http.MethodDelete, path: "/v1/tenants/acme/portal-session", status: 403, want: "an API key is needed"},
		{name: "support lists tenants", by: ann(hook.ScopeRead, hook.ScopeTenantsRead), method: http.MethodGet, path: "/v1/tenants", status: 200},
		{name: "support has no settings", by: ann(hook.ScopeRead, hook.ScopeReplay), method: http.MethodPost, path: "/v1/tenants/acme/endpoints", body: "{}", status: 403, want: "the sign-in lacks the scope endpoints:write"},
		{name: "nobody reads why", by: ann(), method: http.MethodGet, path: "/v1/caller", status: 403, want: "ann@example.com (1) has no role in Surehook"},
		{name: "nobody reads no document with a scope", by: ann(), method: http.MethodGet, path: "/v1/openapi.json", status: 403, want: "has no role"},
		{name: "a late token", by: late, method: http.MethodGet, path: "/v1/caller", status: 401, want: "the sign-in has expired"},
		{name: "the caller", by: ann(hook.ScopeRead), method: http.MethodGet, path: "/v1/caller", status: 200, want: `"id":"user:ann@example.com","name":"ann@example.com (1)","tenant":"*","scopes":["read"],"environment":"surehook-test"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			if w := b.do(t, tt.by, tt.method, tt.path, tt.body); w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
				t.Errorf("%s %s = %d %s; want %d %s", tt.method, tt.path, w.Code, w.Body, tt.status, tt.want)
			}
		})
	}
}

// Audit records name the person.
func TestAudit_people(t *testing.T) {
	t.Parallel()

	b := setup(t)
	ann := hook.Principal{Key: hook.PersonID("ann@example.com"), Name: "ann@example.com (1)", Tenant: hook.AllTenants, Scopes: []hook.Scope{hook.ScopeAdmin}}
	if w := b.do(t, ann, http.MethodPost, "/v1/tenants/acme/replays", `{"filter":{}}`); !strings.Contains(w.Body.String(), `"by":"user:ann@example.com"`) {
		t.Errorf("the job is %s; want Ann in by", w.Body)
	}
	w := b.do(t, ann, http.MethodGet, "/v1/tenants/acme/audit?key=user:ann@example.com", "")
	if !strings.Contains(w.Body.String(), `"key_id":"user:ann@example.com","key_name":"ann@example.com (1)"`) {
		t.Errorf("the changes are %s; want one by Ann", w.Body)
	}
}
