package httpapi_test

import (
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
)

// hidden lists the texts of furnish and of failed deliveries that need the scope read: URLs,
// errors and response bodies.
var hidden = []string{"203.0.113.9 kept silent", "https://answers.example.com/", "a receiver's words"}

// TestMasking calls every route with keys of all scopes except read and admin. No response may
// contain a hidden text, so a new route is covered, too.
func TestMasking(t *testing.T) {
	t.Parallel()

	const canary = "a-credential-of-the-receiver"
	callers := map[string][]hook.Scope{
		"events:write": {hook.ScopeEventsWrite}, "replay": {hook.ScopeReplay}, "endpoints:write": {hook.ScopeEndpointsWrite},
		"all but read": {hook.ScopeEventsWrite, hook.ScopeReplay, hook.ScopeEndpointsWrite},
	}
	for _, o := range operations() {
		method, route, _ := strings.Cut(o.name, " ")
		bodies := []string{o.body}
		if o.body == `{"filter":{}}` {
			bodies = append(bodies, `{"filter":{},"dry_run":true}`)
		}
		for _, body := range bodies {
			for name, scopes := range callers {
				t.Run(o.name+" "+body+" by "+name, func(t *testing.T) {
					t.Parallel()

					e := furnish(t)
					e.now = e.now.Add(time.Minute) // a filter ends before now
					headers := map[string]string{"Authorization": canary}
					if _, err := e.admin.Change(t.Context(), "acme", "crm", 0, endpoint.Fields{Headers: &headers}); err != nil {
						t.Fatalf("Change = %v", err)
					}
					w := e.do(t, hook.Principal{Key: "key_1", Tenant: "acme", Scopes: scopes}, method, e.path(route), body)
					for _, text := range hidden {
						if strings.Contains(w.Body.String(), text) {
							t.Errorf("%s = %d %s; want no %q without the scope read", o.name, w.Code, w.Body, text)
						}
					}
					if name == "replay" && strings.Contains(route, "{tenant}") && strings.Contains(w.Body.String(), "https://") {
						t.Errorf("%s = %d %s; want no URL for a key with scope replay alone", o.name, w.Code, w.Body)
					}
				})
			}
		}
	}
	if served := len(httpapi.Routes()); served != len(operations()) {
		t.Errorf("%d routes are served; want the %d in the table of access", served, len(operations()))
	}
}

// TestMasking_read checks the opposite: a key with the scope read sees the hidden texts in every
// response that contains a delivery.
func TestMasking_read(t *testing.T) {
	t.Parallel()

	const delivery = "/v1/tenants/{tenant}/deliveries/{delivery}"
	both := hook.Principal{Key: "key_1", Tenant: "acme", Scopes: []hook.Scope{hook.ScopeReplay, hook.ScopeRead}}
	for route, body := range map[string]string{
		"GET " + delivery: "", "POST " + delivery + "/cancel": "", "POST " + delivery + "/discard": `{"note":"r"}`,
		"POST /v1/tenants/{tenant}/replays": `{"filter":{},"dry_run":true}`, "GET /v1/tenants/{tenant}/events/{event}/attempts": "",
	} {
		t.Run(route, func(t *testing.T) {
			t.Parallel()

			e := furnish(t)
			e.now = e.now.Add(time.Minute) // a filter ends before now
			method, path, _ := strings.Cut(route, " ")
			w := e.do(t, both, method, e.path(path), body)
			for _, text := range hidden {
				if !strings.Contains(w.Body.String(), text) {
					t.Errorf("%s = %d %s; want %q in it", route, w.Code, w.Body, text)
				}
			}
		})
	}
}
