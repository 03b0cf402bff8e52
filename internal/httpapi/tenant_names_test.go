package httpapi_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"surehook.example/surehook/internal/hook"
)

// tenantNames are ids of tenants that a key, path, cursor or pattern could take for something
// else.
func tenantNames() []hook.TenantID {
	return []hook.TenantID{
		"auth0|5f7c8ec7c33c6c004bbafe82", "org:acme", "org:acme:eu", "org", "ops@example.com", "a+b", "a|b", "a:b", "|", ":", "@", "+", "+:|@", "...", "a.", ".a",
		"endpoint", "evt_01h455vb4pex5vsknk084sn02q", "http:", "https:|@", "a@1700000000000", "-", "_", "surehook.", "portal",
		hook.TenantID(strings.Repeat("t", 126)), hook.TenantID(strings.Repeat("t", 127)), hook.TenantID(strings.Repeat("t", 128)), hook.TenantID(strings.Repeat("|", 128)),
	}
}

// TestTenantNames acts for each tenant through the API: every record is found under its address,
// and only there.
func TestTenantNames(t *testing.T) {
	t.Parallel()

	b := setup(t)
	type estate struct{ endpoint, event string }
	all := map[hook.TenantID]estate{}
	for i, tenant := range tenantNames() {
		path := "/v1/tenants/" + url.PathEscape(string(tenant))
		w := b.do(t, admin, "POST", path+"/endpoints", fmt.Sprintf(`{"url":"https://example.com/%d","uid":"crm","event_types":["order:*"]}`, i))
		if w.Code != 201 {
			t.Errorf("POST of an endpoint for tenant %q = %d %s; want 201", tenant, w.Code, w.Body)
			continue
		}
		created := get[object](t, b, admin, 200, "GET", w.Header().Get("Location"), "")
		event := get[object](t, b, admin, 202, "POST", path+"/events", `{"event_type":"order:paid","payload":1,"idempotency_key":"k"}`)
		all[tenant] = estate{idOf(t, created), idOf(t, event)}
		stored, err := b.store.Event(t.Context(), hook.EventID(idOf(t, event)))
		if err != nil || len(stored.Targets) != 1 {
			t.Fatalf("Event = %+v, %v; want one target", stored, err)
		}
		b.fail(t, hook.QueuedDelivery(stored, stored.Targets[0]), hook.StateDead)
	}
	for tenant, own := range all {
		path := "/v1/tenants/" + url.PathEscape(string(tenant))
		only := func(list, id string) {
			t.Helper()
			got := get[foundList](t, b, admin, 200, "GET", path+list, "")
			if len(got.Data) != 1 || got.Data[0]["id"] != id && got.Data[0]["event_id"] != id {
				t.Errorf("GET %s = %v; want %s alone", path+list, got.Data, id)
			}
		}
		only("/endpoints", own.endpoint)
		only("/events?event_type=order:paid", own.event)
		only("/events?idempotency_key=k", own.event)
		only("/events/"+own.event+"/deliveries", own.event)
		only("/endpoints/crm/deliveries?event_type=order:paid", own.event)
		only("/dead-letters", own.event)
		only("/search?q="+own.event, own.event)
		only("/search?q=crm", own.endpoint)
		found := get[foundList](t, b, admin, 200, "GET", "/v1/search?q="+url.QueryEscape(string(tenant)), "")
		if !slices.ContainsFunc(found.Data, func(o object) bool { return o["id"] == string(tenant) }) {
			t.Errorf("search of tenant %q = %v; want it", tenant, found.Data)
		}
		for _, list := range []string{"/stats", "/health", "/dead-letters/analysis", "/audit", "/limits", "/egress"} {
			get[object](t, b, admin, 200, "GET", path+list, "")
		}
		get[object](t, b, admin, 200, "PUT", path+"/limits", `{"events_per_second":10,"endpoints":7}`)
		b.do(t, admin, "POST", path+"/endpoints/crm/pause", "")
		job := b.do(t, admin, "POST", path+"/replays", `{"filter":{"event_types":["order:*"]}}`)
		get[object](t, b, admin, 200, "GET", job.Header().Get("Location"), "")

		key := get[object](t, b, admin, 201, "POST", "/v1/keys", fmt.Sprintf(`{"name":"n","tenant":%q,"scopes":["read"]}`, tenant))
		secret, _ := key["key"].(string)
		caller := b.caller(t, secret)
		get[object](t, b, caller, 200, "GET", path+"/endpoints/crm", "")
		if w := b.do(t, caller, "GET", "/v1/tenants/acme/endpoints", ""); w.Code != 404 {
			t.Errorf("another tenant with the key of %q = %d; want 404", tenant, w.Code)
		}
		link := get[object](t, b, admin, 201, "POST", path+"/portal-links", "")
		address, _ := link["url"].(string)
		_, fragment, _ := strings.Cut(address, "#")
		given, err := url.ParseQuery(fragment)
		if err != nil || given.Get("tenant") != string(tenant) {
			t.Errorf("portal link of tenant %q = %s, %v", tenant, address, err)
		}
		get[object](t, b, nobody, 201, "POST", path+"/portal-session", fmt.Sprintf(`{"code":%q}`, given.Get("code")))
	}

	seen, cursor := map[hook.TenantID]int{}, ""
	for {
		page := get[struct {
			Data []object `json:"data"`
			Next string   `json:"next_cursor"`
		}](t, b, admin, 200, "GET", "/v1/tenants?limit=1&cursor="+url.QueryEscape(cursor), "")
		for _, tenant := range page.Data {
			seen[hook.TenantID(idOf(t, tenant))]++
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	for _, tenant := range tenantNames() {
		if seen[tenant] != 1 {
			t.Errorf("the list of tenants has %q %d times; want once", tenant, seen[tenant])
		}
		got := get[foundList](t, b, admin, 200, "GET", "/v1/tenants?prefix="+url.QueryEscape(string(tenant)), "")
		if len(got.Data) == 0 || got.Data[0]["id"] != string(tenant) {
			t.Errorf("tenants that begin with %q = %v; want it first", tenant, got.Data)
		}
	}

	// The erasure of one tenant leaves the others alone.
	gone := hook.TenantID("org:acme")
	w := b.do(t, admin, "DELETE", "/v1/tenants/"+url.PathEscape(string(gone)), "")
	get[object](t, b, admin, 200, "GET", w.Header().Get("Location"), "")
	for _, stays := range []hook.TenantID{"org", "org:acme:eu"} {
		get[object](t, b, admin, 200, "GET", "/v1/tenants/"+url.PathEscape(string(stays))+"/endpoints/crm", "")
	}
}

// TestTypeNames checks event types with colons, which replace no other type's schema.
func TestTypeNames(t *testing.T) {
	t.Parallel()

	b := setup(t)
	for _, name := range []string{"order:paid", "a:b:c", "a:b-c", "a-b:c", "a-.b", ":", "::", "order.paid", "order_paid"} {
		got := get[object](t, b, admin, 201, "PUT", "/v1/event-types/"+name, fmt.Sprintf(`{"description":%q,"schema":{"type":"object"},"example":{"a":1}}`, name))
		if got["event_type"] != name {
			t.Errorf("PUT of event type %q = %v", name, got)
		}
	}
	w := b.do(t, admin, "POST", endpoints, `{"url":"https://example.com/","event_types":["order:*","order.paid"]}`)
	if w.Code != 201 {
		t.Errorf("POST of an endpoint = %d %s; want 201", w.Code, w.Body)
	}
	for name, want := range map[string]int{"order:paid": 1, "order.paid": 1, "order:": 0, "order": 0, "orders:paid": 0, "order.pay": 0} {
		event := get[object](t, b, owner, 202, "POST", eventsURL, fmt.Sprintf(`{"event_type":%q,"payload":{"a":1}}`, name))
		if got := get[foundList](t, b, owner, 200, "GET", eventsURL+"/"+idOf(t, event)+"/deliveries", ""); len(got.Data) != want {
			t.Errorf("an event of type %s has %d deliveries; want %d", name, len(got.Data), want)
		}
	}
	contract := get[struct {
		Webhooks   map[string]object `json:"webhooks"`
		Components struct {
			Schemas map[string]object `json:"schemas"`
		} `json:"components"`
	}](t, b, owner, 200, "GET", "/v1/openapi.json?event_types=true", "")
	for _, name := range []string{"order:paid", "a:b:c", "a:b-c", "a-b:c", ":", "order.paid", "order_paid"} {
		if contract.Webhooks[name] == nil {
			t.Errorf("the contract lacks the webhook %s", name)
		}
	}
	schemas := 0
	for name := range contract.Components.Schemas { // OpenAPI 3.1, section 4.8.7
		if strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") != "" {
			t.Errorf("the contract has the schema %q, whose name no contract may have", name)
		}
		if strings.HasPrefix(name, "event.") || strings.HasPrefix(name, "event-") {
			schemas++
		}
	}
	if schemas != 9 {
		t.Errorf("the contract has the schemas of %d types; want 9", schemas)
	}
}
