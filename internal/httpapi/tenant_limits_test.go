package httpapi_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
)

const tenantLimits = "/v1/tenants/acme/limits"

func (b *bundle) limit(t *testing.T, body string) {
	t.Helper()

	get[object](t, b, admin, 200, "PUT", tenantLimits, body)
}

func TestTenantLimits(t *testing.T) {
	t.Parallel()

	b := setup(t)
	for i, step := range []struct {
		method, body string
		status       int
		want         object // read afterwards by the tenant
	}{
		{method: "GET", body: "", status: 200, want: object{}},
		{method: "PUT", body: `{"events_per_second":10,"deliveries_per_event":20,"endpoints":30,"retain_for":"672h"}`, status: 200, want: object{"events_per_second": 10.0, "deliveries_per_event": 20.0, "endpoints": 30.0, "retain_for": "672h"}},
		{method: "PUT", body: `{"endpoints":1}`, status: 200, want: object{"endpoints": 1.0}},
		{method: "DELETE", body: "", status: 204, want: object{}},
		{method: "PUT", body: `{"events_per_second":10000,"deliveries_per_event":500,"endpoints":500}`, status: 200, want: object{"events_per_second": 10000.0, "deliveries_per_event": 500.0, "endpoints": 500.0}},
		{method: "PUT", body: `{}`, status: 200, want: object{}},
	} {
		if w := b.do(t, admin, step.method, tenantLimits, step.body); w.Code != step.status {
			t.Fatalf("step %d: %s = %d %s; want %d", i, step.method, w.Code, w.Body, step.status)
		}
		if diff := cmp.Diff(step.want, get[object](t, b, reader, 200, "GET", tenantLimits, "")); diff != "" {
			t.Errorf("step %d: limits (-want +got):\n%s", i, diff)
		}
		if diff := cmp.Diff(object{}, get[object](t, b, rival, 200, "GET", "/v1/tenants/globex/limits", "")); diff != "" {
			t.Errorf("step %d: limits of another tenant (-want +got):\n%s", i, diff)
		}
	}
}

func TestTenantLimits_invalid(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.limit(t, `{"endpoints":7}`)
	for _, field := range []string{"events_per_second", "deliveries_per_event", "endpoints"} {
		for _, value := range []string{"0", "-1", "10001", "1.5", `"1"`, "null"} {
			p := get[struct{ Errors []hook.FieldError }](t, b, admin, 400, "PUT", tenantLimits, `{"`+field+`":`+value+`}`)
			if len(p.Errors) != 1 || p.Errors[0].Field != field {
				t.Errorf("%s %s: %v; want an error of the field", field, value, p)
			}
		}
	}
	b.do(t, admin, "PUT", "/v1/tenants/a%20b/limits", `{"endpoints":1}`)
	if got := get[object](t, b, reader, 200, "GET", tenantLimits, ""); got["endpoints"] != 7.0 {
		t.Errorf("limits after refused changes = %v; want the limit of before", got)
	}
}

// TestTenantLimits_onlyTheOperatorSets checks a promise of SECURITY.md: no key of one tenant can
// change limits, whatever its scopes.
func TestTenantLimits_onlyTheOperatorSets(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.limit(t, `{"endpoints":1}`)
	everything := hook.Principal{Key: "key_all", Tenant: "acme", Scopes: hook.Scopes()}
	for _, p := range []hook.Principal{owner, rival, reader, everything} {
		for method, body := range map[string]string{"PUT": `{}`, "DELETE": ""} {
			if w := b.do(t, p, method, tenantLimits, body); w.Code != 403 {
				t.Errorf("%s by %s = %d %s; want 403", method, p.Key, w.Code, w.Body)
			}
		}
	}
	if got := get[object](t, b, reader, 200, "GET", tenantLimits, ""); got["endpoints"] != 1.0 {
		t.Errorf("limits = %v; want the operator's", got)
	}
}

func TestTenantLimits_retainFor(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.limit(t, `{"retain_for":"720h"}`)
	for _, value := range []string{`"0s"`, `"671h59m"`, `"-672h"`, `"2160h1ns"`, `"30 days"`, `""`, "720", "null"} {
		p := get[struct{ Errors []hook.FieldError }](t, b, admin, 400, "PUT", tenantLimits, `{"retain_for":`+value+`}`)
		if len(p.Errors) != 1 || p.Errors[0].Field != "retain_for" {
			t.Errorf("retain_for %s: %v; want an error of the field", value, p)
		}
		p = get[struct{ Errors []hook.FieldError }](t, b, owner, 400, "POST", eventsURL, `{"event_type":"a","payload":1,"retain_for":`+value+`}`)
		if len(p.Errors) != 1 || p.Errors[0].Field != "retain_for" {
			t.Errorf("event with retain_for %s: %v; want an error of the field", value, p)
		}
	}
	for body, want := range map[string]string{
		`{"event_type":"a","payload":1}`:                         "2026-12-21T09:30:00.000Z", // the tenant's 30 days
		`{"event_type":"a","payload":1,"retain_for":"672h"}`:     "2026-12-19T09:30:00.000Z",
		`{"event_type":"a","payload":1,"retain_for":"2160h"}`:    "2026-12-21T09:30:00.000Z",
		`{"event_type":"a","payload":1,"retain_for":"40320m0s"}`: "2026-12-19T09:30:00.000Z",
	} {
		id := idOf(t, get[object](t, b, owner, 202, "POST", eventsURL, body))
		if got := get[object](t, b, reader, 200, "GET", eventsURL+"/"+id, ""); got["expires_at"] != want {
			t.Errorf("event %s expires at %v; want %s", body, got["expires_at"], want)
		}
	}
}

func TestTenantLimits_endpoints(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.limit(t, `{"endpoints":1}`)
	b.create(t, `{"url":"https://example.com/"}`)
	w := b.do(t, owner, "POST", endpoints, `{"url":"https://example.com/"}`)
	if want := plain(403, "forbidden", "the tenant is limited to 1 endpoints (endpoints)"); w.Code != 403 || w.Body.String() != want {
		t.Errorf("POST = %d %s; want %s", w.Code, w.Body, want)
	}
	b.limit(t, `{}`)
	b.create(t, `{"url":"https://example.com/"}`)
}

func TestTenantLimits_deliveriesPerEvent(t *testing.T) {
	t.Parallel()

	b := setup(t)
	for range 2 {
		b.create(t, `{"url":"https://example.com/"}`)
	}
	b.limit(t, `{"deliveries_per_event":1}`)
	w := b.do(t, owner, "POST", eventsURL, `{"event_type":"a","payload":1}`)
	want := plain(403, "forbidden", "the event matches 2 endpoints, and the tenant is limited to 1 deliveries per event (deliveries_per_event)")
	if w.Code != 403 || w.Body.String() != want {
		t.Errorf("POST = %d %s; want %s", w.Code, w.Body, want)
	}
	got := get[struct{ Data []object }](t, b, owner, 207, "POST", eventsURL+"/batch", `{"events":[{"event_type":"a","payload":1},{"event_type":"webhook.x","payload":1}]}`)
	if p, _ := got.Data[0]["error"].(object); p["status"] != 403.0 {
		t.Errorf("POST of a batch = %v; want 403 for the first event", got)
	}
}

func TestTenantLimits_eventsPerSecond(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.limit(t, `{"events_per_second":2}`)
	post := func(path, body string) (status int, retryAfter, text string) {
		w := b.do(t, owner, "POST", path, body)
		return w.Code, w.Header().Get("Retry-After"), w.Body.String()
	}
	const (
		one   = `{"event_type":"a","payload":1}`
		three = `{"events":[` + one + `,` + one + `,` + one + `]}`
	)
	want := plain(429, "throttled", "the tenant is limited to 2 events per second (events_per_second)")
	for i, step := range []struct {
		after      time.Duration
		path, body string
		status     int
		retryAfter string
	}{
		{after: 0, path: eventsURL, body: one, status: 202, retryAfter: ""},
		{after: 0, path: eventsURL + "/batch", body: three, status: 429, retryAfter: "1"},
		{after: 0, path: eventsURL, body: one, status: 202, retryAfter: ""},
		{after: 0, path: eventsURL, body: one, status: 429, retryAfter: "1"},
		{after: time.Second, path: eventsURL + "/batch", body: three, status: 202, retryAfter: ""}, // 1.5 s are used up
		{after: 0, path: eventsURL, body: one, status: 429, retryAfter: "1"},
		{after: 0, path: eventsURL + "/batch", body: three, status: 429, retryAfter: "2"},
		{after: 1500 * time.Millisecond, path: eventsURL + "/batch", body: three, status: 202, retryAfter: ""},
	} {
		b.now = b.now.Add(step.after)
		status, retryAfter, text := post(step.path, step.body)
		if status != step.status || retryAfter != step.retryAfter || status == 429 && text != want {
			t.Errorf("step %d: POST = %d, Retry-After %q, %s; want %d, %q", i, status, retryAfter, text, step.status, step.retryAfter)
		}
	}
}
