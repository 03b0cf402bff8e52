package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/hook"
)

// ids returns the ids of a page.
func ids(t *testing.T, b *bundle, p hook.Principal, target string) []string {
	t.Helper()

	var all []string
	for _, o := range get[struct{ Data []object }](t, b, p, 200, "GET", target, "").Data {
		all = append(all, idOf(t, o))
	}
	return all
}

// TestLists_laterEndpoint posts an event of a tenant without an endpoint. The response says so,
// the event is listed, and it can be sent to an endpoint that is created later.
func TestLists_laterEndpoint(t *testing.T) {
	t.Parallel()

	b := setup(t)
	posted := get[object](t, b, owner, 202, "POST", "/v1/tenants/acme/events", `{"event_type":"order.paid","payload":1,"idempotency_key":"order-1"}`)
	if posted["reason"] != "no endpoint subscribes, or its filter leaves the event out" || posted["deliveries"] != 0.0 {
		t.Errorf("POST = %v; want no deliveries, and the reason", posted)
	}
	event := idOf(t, posted)
	for _, list := range []string{"/events", "/events?event_type=order.paid", "/events?idempotency_key=order-1", "/events?since=2026-11-21T09:30:00Z&until=2026-11-21T09:30:00.001Z"} {
		if got := ids(t, b, owner, "/v1/tenants/acme"+list); len(got) != 1 || got[0] != event {
			t.Errorf("GET %s = %v; want %s", list, got, event)
		}
	}
	for _, list := range []string{"/events?event_type=order", "/events?idempotency_key=x", "/events?until=2026-11-21T09:30:00Z", "/deliveries", "/dead-letters"} {
		if got := ids(t, b, owner, "/v1/tenants/acme"+list); len(got) != 0 {
			t.Errorf("GET %s = %v; want none", list, got)
		}
	}
	if got := ids(t, b, admin, "/v1/tenants"); len(got) != 1 || got[0] != "acme" {
		t.Errorf("GET /v1/tenants = %v; want acme", got)
	}
	if got := ids(t, b, admin, "/v1/tenants?prefix=b"); len(got) != 0 {
		t.Errorf("GET /v1/tenants?prefix=b = %v; want none", got)
	}

	endpoint := idOf(t, get[object](t, b, owner, 201, "POST", endpoints, `{"url":"https://example.com/","uid":"late"}`))
	replayed := get[struct{ Data []object }](t, b, owner, 202, "POST", "/v1/tenants/acme/events/"+event+"/replay?endpoint=late", "").Data
	if len(replayed) != 1 || replayed[0]["endpoint_id"] != endpoint || replayed[0]["generation"] != 2.0 {
		t.Errorf("POST replay = %v; want generation 2 to %s", replayed, endpoint)
	}
	for _, list := range []string{"/deliveries?state=cancelled", "/deliveries?endpoint=late", "/endpoints/late/deliveries?status_class=none"} {
		if got := ids(t, b, owner, "/v1/tenants/acme"+list); len(got) != 1 || !strings.HasSuffix(got[0], "_1") {
			t.Errorf("GET %s = %v; want the first generation", list, got)
		}
	}
	if got := ids(t, b, owner, "/v1/tenants/acme/deliveries?idempotency_key=order-1"); len(got) != 2 {
		t.Errorf("GET deliveries of the key = %v; want both generations, the queued too", got)
	}
	job := get[object](t, b, owner, 202, "POST", "/v1/tenants/acme/replays", `{"add_to":"late","filter":{"event_types":["order.*"]}}`)
	if filter, ok := job["filter"].(map[string]any); job["add_to"] != endpoint || !ok || filter["state"] != nil {
		t.Errorf("POST replays = %v; want the endpoint, and no state", job)
	}
}

// The smallest time of some languages is a valid bound.
func TestLists_untilTheYearOne(t *testing.T) {
	t.Parallel()

	e := furnish(t)
	e.do(t, chief, "POST", endpoints+"/crm/pause", "")
	for _, path := range []string{"/v1/tenants/acme/deliveries", "/v1/tenants/acme/events", "/v1/tenants/acme/audit"} {
		if w := e.do(t, chief, "GET", path+"?until=0001-01-01T00:00:00Z", ""); w.Code != 200 || !strings.Contains(w.Body.String(), `"data":[]`) {
			t.Errorf("GET %s?until=0001-01-01T00:00:00Z = %d %.200s; want an empty list", path, w.Code, w.Body)
		}
	}
}

// TestLists_invalid checks that every refusal names the parameter.
func TestLists_invalid(t *testing.T) {
	t.Parallel()

	b := setup(t)
	for target, want := range map[string]string{
		"/deliveries?event_type=":                 invalid("event_type", "must be an exact type of events"),
		"/deliveries?event_type=order.*":          invalid("event_type", "must be an exact type of events"),
		"/deliveries?state=queued":                invalid("state", "queued deliveries are not listed; look at their event's deliveries"),
		"/deliveries?state=":                      invalid("state", "must be one of retrying, parked, delivered, dead, discarded, cancelled"),
		"/deliveries?status_class=6xx":            invalid("status_class", "must be one of none, 2xx, 3xx, 4xx, 5xx"),
		"/deliveries?failed_attempt=yes":          invalid("failed_attempt", "must be true or false"),
		"/deliveries?endpoint=":                   invalid("endpoint", "must not be empty"),
		"/events?since=2026-11-21T09:30:00+02:00": invalid("since", "has a space before its zone: a query decodes + as a space, so write %2B in its place"),
		"/deliveries?since=yesterday":             invalid("since", "must be a time such as 2026-11-21T09:30:00Z"),
		"/events?until=2026-11-21":                invalid("until", "must be a time such as 2026-11-21T09:30:00Z"),
		"/events?idempotency_key=":                invalid("idempotency_key", "must not be empty"),
		"/events?state=dead":                      invalid("state", "is not a known parameter"),
		"/dead-letters?state=dead":                invalid("state", "is not a known parameter"),
		"/endpoints/crm/deliveries?endpoint=":     invalid("endpoint", "is not a known parameter"),
	} {
		if w := b.do(t, owner, "GET", "/v1/tenants/acme"+target, ""); w.Code != 400 || w.Body.String() != want {
			t.Errorf("GET %s = %d %s; want 400 %s", target, w.Code, w.Body, want)
		}
	}
	w := b.do(t, owner, "GET", "/v1/tenants/acme/deliveries?limit=0&colour=red&state=new&failed_attempt=yes&failed_attempt=no", "")
	for _, field := range []string{"colour", "failed_attempt", "limit", "state"} {
		if !strings.Contains(w.Body.String(), fmt.Sprintf("%q", field)) {
			t.Errorf("GET with four wrong parameters = %s; want %s named, too", w.Body, field)
		}
	}
	if w := b.do(t, admin, "GET", "/v1/tenants?prefix=%23", ""); w.Code != 400 {
		t.Errorf("GET /v1/tenants?prefix=# = %d; want 400", w.Code)
	}
	for body, want := range map[string]string{
		`{"add_to":"","filter":{}}`:                      "add_to",
		`{"add_to":"nobody","filter":{}}`:                "add_to",
		`{"add_to":"nobody","filter":{"state":"dead"}}`:  "filter.state",
		`{"add_to":"nobody","filter":{},"dry_run":true}`: "dry_run",
	} {
		if w := b.do(t, owner, "POST", "/v1/tenants/acme/replays", body); w.Code != 400 || !strings.Contains(w.Body.String(), `"field":"`+want+`"`) {
			t.Errorf("POST replays %s = %d %s; want 400 naming %s", body, w.Code, w.Body, want)
		}
	}
}

// listRoutes returns the paths of the contract whose responses have a next_cursor.
func listRoutes(t *testing.T) []string {
	t.Helper()

	var paths []string
	for path, item := range document(t).Paths.Map() {
		if item.Get == nil {
			continue
		}
		content := item.Get.Responses.Value("200").Value.Content.Get("application/json")
		if content != nil && content.Schema.Value.Properties["next_cursor"] != nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// walk reads the list to its end, in pages of at most limit items.
func (b *bundle) walk(t *testing.T, l list, limit int) (pages [][]json.RawMessage) {
	t.Helper()

	mark := "?"
	if strings.Contains(l.path, "?") {
		mark = "&"
	}
	cursor := ""
	for range 1000 {
		target := fmt.Sprintf("%s%slimit=%d", l.path, mark, limit)
		if cursor != "" {
			target += "&cursor=" + url.QueryEscape(cursor)
		}
		_, w := b.ask(t, l.caller, "GET", target, "")
		var got struct {
			Data       []json.RawMessage `json:"data"`
			NextCursor *string           `json:"next_cursor"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK {
			t.Fatalf("GET %s = %d %s", target, w.Code, w.Body)
		}
		pages = append(pages, got.Data)
		if got.NextCursor == nil {
			return pages
		}
		cursor = *got.NextCursor
	}
	t.Fatalf("GET %s has no end", l.path)
	return nil
}

// TestLists_bytes reads every list of the contract with a bound of one byte: each page has one
// item, and together they have all items of the list, in order.
func TestLists_bytes(t *testing.T) {
	t.Parallel()

	b := bounded(t, 1)
	all := lists(t, b)
	for _, name := range []string{"a", "b"} {
		b.do(t, admin, "PUT", "/v1/event-types/"+name, `{}`)
		b.do(t, owner, "POST", endpoints, `{"url":"https://example.com/"}`)
	}
	for _, uid := range []string{"a", "b"} {
		b.do(t, admin, "POST", "/v1/tenants/initech/endpoints", `{"url":"https://example.com/","uid":"`+uid+`"}`)
		b.do(t, admin, "POST", "/v1/tenants/initech/endpoints/"+uid+"/pause", "")
	}
	all["endpoints that need attention"] = list{caller: admin, path: "/v1/tenants/initech/attention"}
	all["event types"] = list{caller: admin, path: "/v1/event-types"}
	all["acme's changes"] = list{caller: owner, path: "/v1/tenants/acme/audit"}
	all["acme's new endpoints"] = list{caller: owner, path: "/v1/tenants/acme/audit?action=endpoint.create"}
	all["changes"] = list{caller: admin, path: "/v1/audit"}

	missing := listRoutes(t)
	for name, l := range all {
		path, _, _ := strings.Cut(l.path, "?")
		missing = slices.DeleteFunc(missing, func(route string) bool { return matches(route, path) })
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var want []json.RawMessage
			for _, p := range b.walk(t, l, 1) {
				want = append(want, p...)
			}
			pages := b.walk(t, l, 100)
			if len(want) < 2 || len(pages) < len(want) {
				t.Fatalf("GET %s has %d pages of %d items; want a page for each", l.path, len(pages), len(want))
			}
			if diff := cmp.Diff(want, slices.Concat(pages...)); diff != "" {
				t.Errorf("GET %s (-by one +by bytes):\n%s", l.path, diff)
			}
		})
	}
	for _, route := range missing {
		t.Errorf("the list %s is not read", route)
	}
}

// matches reports whether the path belongs to the route.
func matches(route, path string) bool {
	return slices.EqualFunc(strings.Split(route, "/"), strings.Split(path, "/"), func(want, got string) bool {
		return strings.HasPrefix(want, "{") || want == got
	})
}

// A page of large items stays below the 6 MB of a response of Lambda, even in its largest
// encoding, with six bytes for each byte.
func TestLists_largeItems(t *testing.T) {
	t.Parallel()

	b := setup(t)
	const n = 110
	for range n {
		e := hook.Endpoint{
			ID: hook.NewEndpointID(), Tenant: "acme", URL: "https://example.com/" + string(hook.NewEndpointID()), EventTypes: []string{"*"},
			Metadata: map[string]string{"<": strings.Repeat("<", 30<<10)}, Status: hook.StatusActive,
		}
		if err := b.store.CreateEndpoint(t.Context(), e); err != nil {
			t.Fatalf("CreateEndpoint = %v", err)
		}
	}
	items := 0
	for _, p := range b.walk(t, list{caller: owner, path: endpoints}, 100) {
		size := 0
		for _, item := range p {
			size += len(item)
		}
		if size > page.MaxBytes || size < page.MaxBytes/2 && items+len(p) < n {
			t.Errorf("a page has %d bytes; want at most %d, and not much less", size, page.MaxBytes)
		}
		items += len(p)
	}
	if items != n {
		t.Errorf("the pages have %d endpoints; want %d", items, n)
	}
}
