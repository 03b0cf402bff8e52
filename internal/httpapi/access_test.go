package httpapi_test

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/admin/apikey"
	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
)

// Marks and words of the table of access.
const (
	forAll = " for all tenants"
	ofAny  = " of any tenant" // marks an operation for the keys of all tenants
	anyKey = "any key"        // instead of a scope
)

// operation is a line of the table of access. The table is written by hand, so that it does not
// depend on the code under test.
type operation struct {
	name   string // "GET /v1/keys"
	scope  string // required scope (or admin); empty for a public route
	status int    // for authorized callers
	body   string
}

func operations() []operation {
	const (
		endpoint = "/v1/tenants/{tenant}/endpoints/{endpoint}"
		event    = "/v1/tenants/{tenant}/events/{event}"
		job      = "/v1/tenants/{tenant}/replays/{replay}"
		posted   = `{"event_type":"a","payload":1}`
	)
	return []operation{
		{name: "POST /v1/tenants/{tenant}/events", scope: "events:write", status: 202, body: posted},
		{name: "POST /v1/tenants/{tenant}/events/batch", scope: "events:write", status: 202, body: `{"events":[` + posted + `]}`},
		{name: "POST /v1/tenants/{tenant}/endpoints", scope: "endpoints:write", status: 201, body: `{"url":"https://example.com/"}`},
		{name: "GET /v1/tenants/{tenant}/endpoints", scope: "read", status: 200, body: ""},
		{name: "GET " + endpoint, scope: "read", status: 200, body: ""},
		{name: "PATCH " + endpoint, scope: "endpoints:write", status: 200, body: `{"description":"d"}`},
		{name: "DELETE " + endpoint, scope: "endpoints:write", status: 204, body: ""},
		{name: "POST " + endpoint + "/rotate-secret", scope: "endpoints:write", status: 200, body: ""},
		{name: "POST " + endpoint + "/end-overlap", scope: "endpoints:write", status: 200, body: ""},
		{name: "POST " + endpoint + "/test", scope: "endpoints:write", status: 202, body: ""},
		{name: "POST " + endpoint + "/pause", scope: "endpoints:write", status: 200, body: ""},
		{name: "POST " + endpoint + "/resume", scope: "endpoints:write", status: 200, body: ""},
		{name: "POST " + endpoint + "/enable", scope: "endpoints:write", status: 200, body: ""},
		{name: "POST " + endpoint + "/disable", scope: "endpoints:write", status: 200, body: ""},
		{name: "POST " + endpoint + "/circuit/reset", scope: "endpoints:write", status: 200, body: ""},
		{name: "POST " + endpoint + "/circuit/open", scope: "endpoints:write", status: 200, body: ""},
		{name: "POST " + endpoint + "/circuit/probe", scope: "endpoints:write", status: 409, body: ""},
		{name: "GET " + endpoint + "/deliveries", scope: "read", status: 200, body: ""},
		{name: "GET " + endpoint + "/health", scope: "read", status: 200, body: ""},
		{name: "GET " + endpoint + "/stats", scope: "read", status: 200, body: ""},
		{name: "GET /v1/tenants/{tenant}/health", scope: "read", status: 200, body: ""},
		{name: "GET /v1/tenants/{tenant}/attention", scope: "read", status: 200, body: ""},
		{name: "GET /v1/tenants/{tenant}/stats", scope: "read", status: 200, body: ""},
		{name: "GET " + endpoint + "/decisions", scope: "read", status: 200, body: ""},
		{name: "GET /v1/tenants/{tenant}/events", scope: "read", status: 200, body: ""},
		{name: "GET /v1/tenants/{tenant}/deliveries", scope: "read", status: 200, body: ""},
		{name: "GET /v1/tenants/{tenant}/dead-letters", scope: "read", status: 200, body: ""},
		{name: "GET /v1/caller", scope: anyKey + ofAny, status: 200, body: ""},
		{name: "GET /v1/tenants", scope: "tenants:read" + forAll, status: 200, body: ""},
		{name: "GET " + event, scope: "read", status: 200, body: ""},
		{name: "GET " + event + "/deliveries", scope: "read", status: 200, body: ""},
		{name: "GET " + event + "/attempts", scope: "read", status: 200, body: ""},
		{name: "GET /v1/tenants/{tenant}/deliveries/{delivery}", scope: "read", status: 200, body: ""},
		{name: "POST /v1/tenants/{tenant}/deliveries/{delivery}/replay", scope: "replay", status: 202, body: `{"force":true}`},
		{name: "POST /v1/tenants/{tenant}/deliveries/{delivery}/discard", scope: "replay", status: 200, body: `{"note":"r"}`},
		{name: "POST /v1/tenants/{tenant}/deliveries/{delivery}/cancel", scope: "replay", status: 200, body: ""},
		{name: "POST " + event + "/replay", scope: "replay", status: 202, body: `{"force":true}`},
		{name: "DELETE " + event + "/payload", scope: "admin", status: 204, body: ""},
		{name: "DELETE /v1/tenants/{tenant}", scope: "admin" + forAll, status: 202, body: ""},
		{name: "GET /v1/tenants/{tenant}/erasures/{erasure}", scope: "admin" + forAll, status: 404, body: ""}, // an unknown erasure
		{name: "POST /v1/tenants/{tenant}/replays", scope: "replay", status: 202, body: `{"filter":{}}`},
		{name: "GET /v1/tenants/{tenant}/replays", scope: "replay", status: 200, body: ""},
		{name: "GET " + job, scope: "replay", status: 200, body: ""},
		{name: "POST " + job + "/cancel", scope: "replay", status: 200, body: ""},
		{name: "GET /v1/tenants/{tenant}/dead-letters/analysis", scope: "read", status: 200, body: ""},
		{name: "GET /v1/tenants/{tenant}/egress", scope: "read", status: 200, body: ""},
		{name: "POST /v1/tenants/{tenant}/endpoints/{endpoint}/preview", scope: "read", status: 200, body: `{"event_type":"a","payload":{}}`},
		{name: "GET /v1/tenants/{tenant}/limits", scope: "read", status: 200, body: ""},
		{name: "PUT /v1/tenants/{tenant}/limits", scope: "admin" + forAll, status: 200, body: `{"endpoints":5}`},
		{name: "DELETE /v1/tenants/{tenant}/limits", scope: "admin" + forAll, status: 204, body: ""},
		{name: "POST /v1/tenants/{tenant}/portal-links", scope: "portal:write" + forAll, status: 201, body: `{"ttl":"1h"}`},
		{name: "DELETE /v1/tenants/{tenant}/portal-links/{key}", scope: "portal:write" + forAll, status: 204, body: ""},
		{name: "POST /v1/tenants/{tenant}/portal-session", scope: "", status: 201, body: `{"code":"` + linkCode + `"}`},
		{name: "DELETE /v1/tenants/{tenant}/portal-session", scope: anyKey, status: 204, body: ""},
		{name: "GET /v1/tenants/{tenant}/search", scope: "read", status: 400, body: ""}, // without q
		{name: "GET /v1/search", scope: "read" + forAll, status: 400, body: ""},
		{name: "GET /v1/tenants/{tenant}/audit", scope: "audit", status: 200, body: ""},
		{name: "GET /v1/stats", scope: "admin" + forAll, status: 200, body: ""},
		{name: "GET /v1/audit", scope: "admin" + forAll, status: 200, body: ""},
		{name: "GET /v1/health", scope: "admin" + forAll, status: 200, body: ""},
		{name: "GET /v1/openapi.json", scope: "read" + ofAny, status: 200, body: ""},
		{name: "GET /v1/event-types", scope: "read" + ofAny, status: 200, body: ""},
		{name: "GET /v1/event-types/{type}", scope: "read" + ofAny, status: 200, body: ""},
		{name: "PUT /v1/event-types/{type}", scope: "admin" + forAll, status: 200, body: `{"description":"d"}`},
		{name: "DELETE /v1/event-types/{type}", scope: "admin" + forAll, status: 204, body: ""},
		{name: "GET /v1/rejects", scope: "admin" + forAll, status: 200, body: ""},
		{name: "POST /v1/rejects/redrive", scope: "admin" + forAll, status: 200, body: ""},
		{name: "POST /v1/keys", scope: "admin" + forAll, status: 201, body: `{"name":"a","tenant":"acme","scopes":["read"]}`},
		{name: "GET /v1/keys", scope: "admin" + forAll, status: 200, body: ""},
		{name: "DELETE /v1/keys/{key}", scope: "admin" + forAll, status: 204, body: ""},
		{name: "GET /v1/openapi.yaml", scope: "", status: 200, body: ""},
		{name: "GET /docs", scope: "", status: 200, body: ""},
		{name: "GET /docs/{file}", scope: "", status: 404, body: ""}, // an unknown file
	}
}

// answer returns the expected status and, for a refusal, the expected body.
func (o operation) answer(p hook.Principal) (status int, body string) {
	scope, all := strings.CutSuffix(o.scope, forAll)
	scope, anyTenant := strings.CutSuffix(scope, ofAny)
	switch {
	case o.scope == "":
		return o.status, ""
	case p.Key == "":
		return 401, plain(401, "unauthorized", "a valid API key is needed")
	case scope != anyKey && !slices.Contains(p.Scopes, hook.Scope(scope)) && !slices.Contains(p.Scopes, "admin"):
		return 403, plain(403, "forbidden", "the API key lacks the scope "+scope)
	case all && p.Tenant != "*":
		return 403, plain(403, "forbidden", "the API key must act for all tenants")
	case !all && !anyTenant && p.Tenant != "*" && p.Tenant != "acme":
		return 404, plain(404, "not_found", "no such tenant")
	}
	return o.status, ""
}

// linkID and linkCode belong to the unopened portal link of the estate.
const (
	linkID   = "key_7m2p4s6v8x0z1b3d"
	linkCode = "shl_7m2p4s6v8x0z1b3dZm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmE"
)

// estate holds resources of acme: an endpoint with the uid crm, an event whose delivery failed
// once, an event with a dead delivery, a replay job, a key, a portal link, and the links of all
// callers' keys.
type estate struct {
	*bundle
	delivery hook.DeliveryID
	dead     hook.DeliveryID
	job      hook.JobID
	key      hook.KeyID
}

func furnish(t *testing.T) estate {
	t.Helper()

	e := estate{bundle: setup(t)}
	if _, _, err := e.admin.Create(t.Context(), "acme", endpoint.Fields{UID: new("crm"), URL: new("https://example.com/")}, ""); err != nil {
		t.Fatalf("Create = %v", err)
	}
	e.delivery = e.failed(t, hook.StateRetrying)
	e.dead = e.failed(t, hook.StateDead)
	e.job = e.bundle.job(t, "acme").ID
	k, _, err := e.keys.Create(t.Context(), apikey.Request{Name: "backend", Tenant: "acme", Scopes: []hook.Scope{hook.ScopeRead}})
	if err != nil {
		t.Fatalf("Create = %v", err)
	}
	e.key = k.ID
	e.link(t, linkID, linkCode)
	for _, caller := range []hook.KeyID{"key_1", chief.Key} {
		e.link(t, caller, "")
	}
	if _, _, err := e.types.Put(t.Context(), hook.EventType{Name: "order.paid"}, 0); err != nil {
		t.Fatalf("Put = %v", err)
	}
	return e
}

// link stores a portal link of acme, opened without a code.
func (e estate) link(t *testing.T, id hook.KeyID, code string) {
	t.Helper()

	l := hook.PortalLink{
		ID: id, Tenant: "acme", Scopes: apikey.PortalScopes(), CreatedAt: e.now, ExpiresAt: e.now.Add(time.Hour),
		CodeHash: hook.HashKey(code), OpenUntil: e.now.Add(time.Minute),
	}
	if err := e.store.PutLink(t.Context(), l); err != nil {
		t.Fatalf("PutLink = %v", err)
	}
	if code != "" {
		return
	}
	if _, err := e.links.Open(t.Context(), l); err != nil {
		t.Fatalf("Open = %v", err)
	}
}

// failed posts an event, fails the first attempt, and returns the delivery.
func (e estate) failed(t *testing.T, state hook.State) hook.DeliveryID {
	t.Helper()

	accepted, err := e.acceptor.Accept(t.Context(), "acme", ingest.Request{Type: "a", Payload: []byte("1")})
	if err != nil {
		t.Fatalf("Accept = %v", err)
	}
	event, err := e.store.Event(t.Context(), accepted.ID)
	if err != nil || len(event.Targets) != 1 {
		t.Fatalf("Event = %+v, %v; want one for the endpoint", event, err)
	}
	d := hook.QueuedDelivery(event, event.Targets[0])
	e.fail(t, d, state)
	return d.ID
}

// path replaces the parameters of the route with the ids of the estate.
func (e estate) path(route string) string {
	delivery, key := e.delivery, string(e.key)
	if strings.Contains(route, "/portal-links/") {
		key = linkID
	}
	if strings.HasSuffix(route, "/discard") {
		delivery = e.dead
	}
	return strings.NewReplacer(
		"{tenant}", "acme", "{endpoint}", string(delivery.Endpoint), "{event}", string(delivery.Event), "{delivery}", delivery.String(),
		"{replay}", string(e.job), "{key}", key, "{file}", "no-such-file", "{erasure}", "era_0123456789abcdef", "{type}", "order.paid",
	).Replace(route)
}

// callers returns all kinds of callers: nobody, and keys of acme, of another tenant and of all
// tenants, each without a scope, with every single scope, and with all scopes except admin.
func callers() map[string]hook.Principal {
	sets := map[string][]hook.Scope{"no scope": nil, "all scopes but admin": {"events:write", "endpoints:write", "transformations", "private", "read", "replay", "audit", "portal:write", "tenants:read"}}
	for _, scope := range hook.Scopes() {
		sets[string(scope)] = []hook.Scope{scope}
	}
	found := map[string]hook.Principal{"no key": {}}
	for name, tenant := range map[string]hook.TenantID{"its own tenant": "acme", "another tenant": "globex", "all tenants": "*"} {
		for set, scopes := range sets {
			found["a key of "+name+" with "+set] = hook.Principal{Key: "key_1", Tenant: tenant, Scopes: scopes}
		}
	}
	return found
}

// TestAccess calls every route as every caller, each with a new estate.
func TestAccess(t *testing.T) {
	t.Parallel()

	known := make(map[string]operation)
	for _, o := range operations() {
		known[o.name] = o
	}
	served := make(map[string]bool)
	for _, r := range httpapi.Routes() {
		name := r.Method + " " + r.Path
		o, ok := known[name]
		if !ok {
			t.Errorf("%s is served and not in the table of access", name)
			continue
		}
		served[name] = true
		for who, p := range callers() {
			t.Run(name+" by "+who, func(t *testing.T) {
				t.Parallel()

				e := furnish(t)
				status, body := o.answer(p)
				w := e.do(t, p, r.Method, e.path(r.Path), o.body)
				if w.Code != status || body != "" && w.Body.String() != body {
					t.Errorf("%s = %d %s; want %d %s", name, w.Code, w.Body, status, body)
				}
				if challenge := w.Header().Get("WWW-Authenticate"); (challenge == "Bearer") != (status == 401) {
					t.Errorf("%s = %d with WWW-Authenticate %q; want it with a 401 alone", name, w.Code, challenge)
				}
			})
		}
	}
	for name := range known {
		if !served[name] {
			t.Errorf("%s is in the table of access and not served", name)
		}
	}
}

// wire returns status, headers and body of the response.
func wire(w *httptest.ResponseRecorder) string {
	return fmt.Sprintf("%d %v %s", w.Code, w.Header(), w.Body)
}

// strangers returns pairs of names: a resource of acme, and one that does not exist. globex owns
// the event and the endpoint.
func (e estate) strangers(event hook.EventID, endpoint hook.EndpointID) map[string][][2]string {
	unknown := hook.DeliveryID{Event: hook.KeyedEventID("acme", "none"), Endpoint: "ep_0000000000000000", Generation: 1}
	mixed := func(ev hook.EventID, ep hook.EndpointID) string {
		return hook.DeliveryID{Event: ev, Endpoint: ep, Generation: 1}.String()
	}
	return map[string][][2]string{
		"{endpoint}": {{string(e.delivery.Endpoint), string(unknown.Endpoint)}, {"crm", "erp"}},
		"{replay}":   {{string(e.job), "rpl_00000000000000000000000000"}, {string(e.job), "rpl_x"}},
		"{event}":    {{string(e.delivery.Event), string(unknown.Event)}, {string(e.delivery.Event), "evt_x"}},
		"{delivery}": {
			{e.delivery.String(), unknown.String()},
			{e.delivery.String(), "dlv_x"},
			{mixed(event, e.delivery.Endpoint), mixed(event, unknown.Endpoint)},
			{mixed(e.delivery.Event, endpoint), mixed(unknown.Event, endpoint)},
		},
	}
}

// TestAccess_strangers calls every route with a resource of another tenant and with one that does
// not exist, each with valid and invalid bodies. The responses must be the same, byte for byte,
// and the resources of the other tenant must not change.
func TestAccess_strangers(t *testing.T) {
	t.Parallel()

	e := furnish(t)
	own := idOf(t, get[object](t, e.bundle, rival, 201, "POST", "/v1/tenants/globex/endpoints", `{"url":"https://example.com/"}`))
	posted := idOf(t, get[object](t, e.bundle, rival, 202, "POST", "/v1/tenants/globex/events", `{"event_type":"a","payload":1}`))
	names := e.strangers(hook.EventID(posted), hook.EndpointID(own))
	before := e.inventory(t)

	checked := make(map[string]int)
	for _, o := range operations() {
		method, route, _ := strings.Cut(o.name, " ")
		for name, pairs := range names {
			if !strings.Contains(route, name) {
				continue
			}
			for _, pair := range pairs {
				for _, tenant := range []string{"globex", "acme", "initech"} { // the caller's path, the owner's path, and the path of no tenant
					for _, body := range []string{o.body, "{}", "{", `{"url":1,"nope":2}`} {
						path := strings.ReplaceAll(route, "{tenant}", tenant)
						if strings.HasSuffix(path, "/deliveries") && name == "{endpoint}" {
							path += "?state=retrying"
						}
						theirs := e.do(t, rival, method, strings.ReplaceAll(path, name, pair[0]), body)
						none := e.do(t, rival, method, strings.ReplaceAll(path, name, pair[1]), body)
						if wire(theirs) != wire(none) || theirs.Code != 404 && (theirs.Code != 400 || body == o.body) {
							t.Errorf("%s %s with %q: %s\nfor %s, and for %s, which is not,\n%s; want the same 404",
								method, path, body, wire(theirs), pair[0], pair[1], wire(none))
						}
						checked[name]++
					}
				}
			}
		}
		if strings.Contains(route, "{tenant}") && o.scope != "" { // a code opens its link for anybody
			theirs := e.do(t, rival, method, e.path(route), o.body)
			none := e.do(t, rival, method, strings.Replace(e.path(route), "/acme/", "/initech/", 1), o.body)
			bad := e.do(t, rival, method, strings.Replace(e.path(route), "/acme/", "/a%20b/", 1), o.body)
			want := 404
			if strings.HasSuffix(o.scope, forAll) {
				want = 403 // for a key of one tenant, whatever the path
			}
			if theirs.Code != want || wire(theirs) != wire(none) {
				t.Errorf("%s: %s for another tenant, %s for none; want the same %d", o.name, wire(theirs), wire(none), want)
			}
			if bad.Code != min(want, 400) && bad.Code != 403 {
				t.Errorf("%s: %s for an invalid tenant; want its rule", o.name, wire(bad))
			}
		}
	}
	for name := range names {
		if checked[name] == 0 {
			t.Errorf("no route has %s", name)
		}
	}
	if after := e.inventory(t); after != before {
		t.Errorf("another tenant's requests changed\n%s\nto\n%s", before, after)
	}
}

// inventory returns all resources readable by the owner of acme.
func (e estate) inventory(t *testing.T) string {
	t.Helper()

	var all strings.Builder
	for _, path := range []string{
		endpoints, endpoints + "/crm", endpoints + "/crm/deliveries?state=retrying", eventsURL + "/" + string(e.delivery.Event),
		eventsURL + "/" + string(e.delivery.Event) + "/deliveries", eventsURL + "/" + string(e.delivery.Event) + "/attempts",
		"/v1/tenants/acme/deliveries/" + e.delivery.String(), "/v1/tenants/acme/replays", "/v1/tenants/acme/replays/" + string(e.job),
	} {
		w := e.do(t, owner, "GET", path, "")
		if w.Code != 200 {
			t.Fatalf("GET %s = %d %s; want 200", path, w.Code, w.Body)
		}
		all.WriteString(wire(w) + "\n")
	}
	return all.String()
}

// TestAccess_uidsAreATenantsOwn checks that two tenants may use the same uid, and that each of
// them reaches its own endpoint.
func TestAccess_uidsAreATenantsOwn(t *testing.T) {
	t.Parallel()

	b := setup(t)
	for who, p := range map[string]hook.Principal{"acme": owner, "globex": rival} {
		get[object](t, b, p, 201, "POST", "/v1/tenants/"+who+"/endpoints", `{"url":"https://`+who+`.example.com/","uid":"crm"}`)
	}
	for who, p := range map[string]hook.Principal{"acme": owner, "globex": rival} {
		got := get[object](t, b, p, 200, "GET", "/v1/tenants/"+who+"/endpoints/crm", "")
		if got["url"] != "https://"+who+".example.com/" {
			t.Errorf("%s's crm leads to %v; want its own", who, got["url"])
		}
	}
	if w := b.do(t, rival, "DELETE", "/v1/tenants/globex/endpoints/crm", ""); w.Code != 204 {
		t.Errorf("DELETE = %d %s; want 204", w.Code, w.Body)
	}
	if w := b.do(t, owner, "GET", endpoints+"/crm", ""); w.Code != 200 {
		t.Errorf("acme's crm after globex deleted theirs = %d; want 200", w.Code)
	}
}

// TestAccess_keysAreNeverShownAgain checks that a list of keys contains neither the keys nor
// their hashes, but the day of their last use.
func TestAccess_keysAreNeverShownAgain(t *testing.T) {
	t.Parallel()

	b := setup(t)
	var secrets []string
	for range 3 {
		k, text, err := b.keys.Create(t.Context(), apikey.Request{Name: "backend", Tenant: "acme", Scopes: []hook.Scope{hook.ScopeRead}})
		if err != nil {
			t.Fatalf("Create = %v", err)
		}
		secrets = append(secrets, text, strings.TrimPrefix(text, hook.APIKeyPrefix), k.Hash)
	}
	all, err := b.keys.List(t.Context(), page.Request{Limit: 3})
	if err != nil || len(all.Data) != 3 {
		t.Fatalf("List = %v, %v; want three", all, err)
	}
	if err := b.store.TouchKey(t.Context(), all.Data[1], "2026-11-21"); err != nil {
		t.Fatalf("TouchKey = %v", err)
	}
	list := get[struct{ Data []object }](t, b, admin, 200, "GET", "/v1/keys", "")
	for i, want := range []any{nil, "2026-11-21", nil} {
		if day, ok := list.Data[i]["last_used_on"]; day != want || ok != (want != nil) {
			t.Errorf("key %d was last used on %v; want %v", i, day, want)
		}
	}
	w := b.do(t, admin, "GET", "/v1/keys?limit=3", "")
	for _, secret := range secrets {
		if strings.Contains(w.Body.String(), secret) || strings.Contains(b.log.String(), secret) {
			t.Errorf("a list of keys, or the log of it, holds %s", secret)
		}
	}
}

// TestAccess_addTo checks what a replay to an endpoint of the caller's choice needs beside the scope of
// its route.
func TestAccess_addTo(t *testing.T) {
	t.Parallel()

	b := setup(t)
	to := b.create(t, `{"url":"https://example.com/"}`)
	event := idOf(t, get[object](t, b, owner, 202, "POST", "/v1/tenants/acme/events", `{"event_type":"a","payload":{}}`))
	for _, also := range append(hook.Scopes(), hook.ScopeReplay) {
		p := hook.Principal{Key: "key_1", Tenant: "acme", Scopes: []hook.Scope{hook.ScopeReplay, also}}
		allowed := slices.Contains([]hook.Scope{hook.ScopeRead, hook.ScopeEndpointsWrite, hook.ScopeAdmin}, also)
		for path, body := range map[string]string{
			"/v1/tenants/acme/events/" + event + "/replay?endpoint=" + idOf(t, to): `{"force":true}`,
			"/v1/tenants/acme/replays": `{"add_to":"` + idOf(t, to) + `","filter":{}}`,
		} {
			if w := b.do(t, p, "POST", path, body); (w.Code == 403) == allowed {
				t.Errorf("POST %s with replay and %s = %d %s; want allowed: %t", path, also, w.Code, w.Body, allowed)
			}
		}
	}
}
