package httpapi_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
)

// try makes a request without the check against the contract.
func (b *bundle) try(tb testing.TB, p hook.Principal, method, target, body string) *httptest.ResponseRecorder {
	tb.Helper()

	_, w := b.ask(tb, p, method, target, body)
	return w
}

// FuzzBatchBody checks that no body breaks the handler, and that the response has one result per
// event, with status 202 if and only if all of them were accepted.
func FuzzBatchBody(f *testing.F) {
	const one = `{"event_type":"a","payload":1}`
	for _, seed := range []string{
		`{"events":[` + one + `]}`,
		`{"events":[` + one + `,{"event_type":"webhook.x","payload":null},{"event_type":"b","payload":{"a":[]},"idempotency_key":"k"}]}`,
		`{"events":[{"event_type":"a","payload":1,"idempotency_key":"k"},{"event_type":"a","payload":2,"idempotency_key":"k"}]}`,
		`{"events":[` + strings.Repeat(one+",", 100) + one + `]}`,
		`{"events":[]}`, `{"events":null}`, `{"events":[null]}`, `{"events":{}}`, `{"events":[[` + one + `]]}`,
		`{"events":[` + one + `],"events":[]}`, `[` + one + `]`, `{"events":[{"payload":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		b := setup(t)
		w := b.try(t, owner, "POST", eventsURL+"/batch", body)
		if w.Code != 202 && w.Code != 207 && w.Code != 400 && w.Code != 413 || !json.Valid(w.Body.Bytes()) {
			t.Fatalf("POST %q = %d %s", body, w.Code, w.Body)
		}
		if w.Code >= 300 {
			return
		}
		var answer struct {
			Data []struct {
				ID string `json:"id"`
			} `json:"data"`
		}
		var posted struct {
			Events []json.RawMessage `json:"events"`
		}
		if err := errors.Join(json.Unmarshal(w.Body.Bytes(), &answer), json.Unmarshal([]byte(body), &posted)); err != nil {
			t.Fatalf("POST %q = %s: %v", body, w.Body, err)
		}
		if n := len(answer.Data); n != len(posted.Events) || n == 0 || n > hook.MaxBatchEvents {
			t.Fatalf("POST %q = %d results for %d events; want one each, 1 to %d", body, n, len(posted.Events), hook.MaxBatchEvents)
		}
		accepted := 0
		for _, result := range answer.Data {
			if result.ID == "" {
				continue
			}
			accepted++
			stored, err := b.store.Event(t.Context(), hook.EventID(result.ID))
			if err != nil || !json.Valid(stored.Payload) || !strings.Contains(body, string(stored.Payload)) {
				t.Fatalf("POST %q stored %q, %v; want bytes of the body", body, stored.Payload, err)
			}
		}
		if all := accepted == len(answer.Data); all != (w.Code == 202) {
			t.Fatalf("POST %q = %d with %d of %d accepted", body, w.Code, accepted, len(answer.Data))
		}
	})
}

// FuzzPatchBody checks that a change is applied as a whole or not at all, never changes the fields
// that a caller cannot set, and results in an endpoint that could also be created.
func FuzzPatchBody(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"url":"https://other.example.com/"}`, `{"url":"https://169.254.169.254/"}`, `{"uid":"erp"}`, `{"uid":"crm"}`, `{"status":"disabled"}`,
		`{"id":"ep_0000000000000000","tenant":"globex","version":9}`, `{"secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}`, `null`,
		`{"headers":{"Webhook-Signature":"v1,x"}}`, `{"headers":{},"metadata":{},"event_types":[]}`, `{"description":null}`,
		`{"retry":{"preset":"day"},"timeout":"30s","max_age":"336h","rate_per_second":1000,"max_in_flight":100}`,
		`{"headers":{"0":"0"}}`, `{"auth":{"type":"basic","username":"a","password":"b"}}`, `{"auth":{"type":"bearer","token":"a"}}`,
		`{"auth":{"type":"oauth2","token_url":"https://a.example.com/","client_id":"a","client_secret":"b","scope":"c","client_auth":"body"}}`,
		`{"signature_profiles":["classic"],"envelope":"thin","transformation":"{}","signature_schemes":["v1a"]}`, `{"signature_schemes":["v1a","v1"]}`, `{"circuit":{"cooldown":"24h"}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		b := setup(t)
		b.try(t, owner, "POST", endpoints, `{"url":"https://example.com/","uid":"crm","metadata":{"a":"b"}}`)
		before := b.try(t, owner, "GET", endpoints+"/crm", "").Body.String()
		w := b.try(t, owner, "PATCH", endpoints+"/crm", body)
		after := b.try(t, owner, "GET", endpoints+"/crm", "").Body.String()
		if w.Code != 200 {
			if w.Code != 400 && w.Code != 413 || !json.Valid(w.Body.Bytes()) || after != before {
				t.Fatalf("PATCH %q = %d %s, then GET = %s; want %s", body, w.Code, w.Body, after, before)
			}
			return
		}
		var e, old object
		if json.Unmarshal([]byte(after), &e) != nil || json.Unmarshal([]byte(before), &old) != nil || !strings.HasPrefix(after, strings.TrimSuffix(w.Body.String(), "}")) {
			t.Fatalf("PATCH %q = %s, then GET = %s", body, w.Body, after)
		}
		for _, name := range []string{"id", "uid", "status", "created_at"} {
			if e[name] != old[name] {
				t.Errorf("PATCH %q changed %s from %v to %v", body, name, old[name], e[name])
			}
		}
		for _, name := range []string{"id", "uid", "status", "reason", "status_since", "created_at", "updated_at", "version", "slow", "circuit_state", "signed_by", "public_key"} {
			delete(e, name)
		}
		masked, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		// The API masks header values and credentials. To create the endpoint again, a caller
		// must know them.
		again := strings.ReplaceAll(string(masked), `"`+hook.Masked+`"`, `"known"`)
		if w := b.try(t, owner, "POST", endpoints, again); w.Code != 201 {
			t.Errorf("PATCH %q made %s, which POST refuses: %d %s", body, again, w.Code, w.Body)
		}
	})
}

// FuzzSmallBody sends a body to the routes with small bodies. No body breaks a
// handler, and keys are created only for valid tenants and scopes.
func FuzzSmallBody(f *testing.F) {
	f.Add(`{"name":"ci","tenant":"acme","scopes":["read"]}`)
	f.Add(`{"name":"ci","tenant":"*","scopes":["admin","replay"]}`)
	f.Add(`{"name":"ci","tenant":"**","scopes":["*"]}`)
	f.Add(`{"name":"","tenant":"","scopes":["read","read"]}`)
	f.Add(`{"overlap":"0s","secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}`)
	f.Add(`{"overlap":"-1s"}`)
	f.Add(`{"overlap":"168h1ns"}`)
	f.Add(`{"event_type":"order.paid"}`)
	f.Add(`{"event_type":"webhook.test"}`)
	f.Add(``)
	f.Add(`null`)
	f.Fuzz(func(t *testing.T, body string) {
		b := setup(t)
		b.try(t, owner, "POST", endpoints, `{"url":"https://example.com/","uid":"crm"}`)
		for _, r := range []struct {
			p      hook.Principal
			target string
			status int
		}{{p: admin, target: "/v1/keys", status: 201}, {p: owner, target: endpoints + "/crm/rotate-secret", status: 200}, {p: owner, target: endpoints + "/crm/test", status: 202}} {
			w := b.try(t, r.p, "POST", r.target, body)
			if w.Code != r.status && w.Code != 400 && w.Code != 413 || !json.Valid(w.Body.Bytes()) {
				t.Errorf("POST %s %q = %d %s", r.target, body, w.Code, w.Body)
			}
		}
		keys, err := b.store.Keys(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range keys {
			_, noTenant := hook.ParseTenantID(string(k.Tenant))
			noScope := func(s hook.Scope) bool { return !slices.Contains(hook.Scopes(), s) }
			if noTenant != nil && k.Tenant != hook.AllTenants || len(k.Scopes) == 0 || len(k.Scopes) > len(hook.Scopes()) || slices.ContainsFunc(k.Scopes, noScope) || k.Name == "" {
				t.Errorf("POST %q made the key %+v", body, k)
			}
		}
	})
}

// FuzzReplayBody sends a body to the routes that replay, discard or cancel. No body breaks a handler,
// and jobs are created only with a valid filter and rate.
func FuzzReplayBody(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `null`, `{"force":true}`, `{"force":"yes"}`, `{"force":null}`, `{"note":"a\nb"}`, `{"note":"gone"}`, `{"filter":null}`,
		`{"filter":{}}`, `{"filter":{},"dry_run":true}`, `{"filter":{},"rate_per_second":0}`, `{"filter":{},"rate_per_second":1e309}`,
		`{"filter":{"endpoint":"crm","state":"delivered","event_types":["order.*","*"],"since":"2026-11-20T00:00:00Z","until":"2026-11-21T00:00:00+01:00"}}`,
		`{"filter":{"state":"queued"}}`, `{"filter":{"endpoint":"../crm"}}`, `{"filter":{"event_types":[]}}`, `{"filter":{"event_types":["a b"]}}`,
		`{"filter":{"since":"0000-01-01T00:00:00+23:59"}}`, `{"filter":{"since":"9999-12-31T23:59:59-23:59"}}`, `{"filter":{"until":"2026-11-21"}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		b := setup(t)
		b.try(t, owner, "POST", endpoints, `{"url":"https://example.com/","uid":"crm"}`)
		b.try(t, owner, "POST", eventsURL, `{"event_type":"a","payload":1,"idempotency_key":"k"}`)
		event, err := b.store.Event(t.Context(), hook.KeyedEventID("acme", "k"))
		if err != nil {
			t.Fatal(err)
		}
		delivery := "/v1/tenants/acme/deliveries/" + hook.QueuedDelivery(event, event.Targets[0]).Ref().String()
		for _, target := range []string{
			delivery + "/replay", delivery + "/discard", delivery + "/cancel", eventsURL + "/" + string(event.ID) + "/replay", "/v1/tenants/acme/replays",
		} {
			w := b.try(t, owner, "POST", target, body)
			if w.Code >= 300 && w.Code != 400 && w.Code != 404 && w.Code != 409 && w.Code != 413 || !json.Valid(w.Body.Bytes()) {
				t.Errorf("POST %s %q = %d %s", target, body, w.Code, w.Body)
			}
		}
		jobs, err := b.store.Jobs(t.Context(), "acme", "", 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range jobs {
			if j.Rate < replay.MinRate || j.Rate > replay.MaxRate || j.Filter.State == hook.StateQueued || len(j.Filter.Types) > replay.MaxTypes {
				t.Errorf("POST %q made the job %+v", body, j)
			}
			if w := b.try(t, owner, "GET", "/v1/tenants/acme/replays/"+string(j.ID), ""); w.Code != 200 {
				t.Errorf("GET of the job of %q = %d %s", body, w.Code, w.Body)
			}
		}
	})
}

// FuzzQuery sends the same query to several lists. No query breaks a handler, a page is not larger
// than its limit, and no list accepts a malformed query or an invented cursor.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{
		"", "limit=1", "limit=101", "limit=-0", "limit=%31", "limit=1&limit=2", "cursor=", "cursor=AAAA", "cursor=%00", "state=dead", "state=DEAD",
		"state=queued", "a;b", "%zz", "page=1", "limit=1&state=dead&cursor=", "limit=9223372036854775808", "limit=+5", "slow=true", "slow=1", "slow=",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		b := setup(t)
		b.try(t, owner, "POST", endpoints, `{"url":"https://example.com/","uid":"crm"}`)
		b.try(t, owner, "POST", endpoints, `{"url":"https://example.com/"}`)
		b.try(t, owner, "POST", eventsURL, `{"event_type":"a","payload":1,"idempotency_key":"k"}`)
		event := eventsURL + "/" + string(hook.KeyedEventID("acme", "k"))
		values, malformed := url.ParseQuery(query)
		for _, path := range []string{endpoints, endpoints + "/crm/deliveries", event + "/deliveries", event + "/attempts", "/v1/keys", "/v1/tenants/acme/replays", endpoints + "/crm/decisions"} {
			r := httptest.NewRequestWithContext(httpapi.WithPrincipal(t.Context(), admin), http.MethodGet, path, nil)
			r.URL.RawQuery = query
			w := httptest.NewRecorder()
			b.handler(http.MethodGet, path).ServeHTTP(w, r)
			if w.Code != 200 && w.Code != 400 || !json.Valid(w.Body.Bytes()) {
				t.Fatalf("GET %s?%q = %d %s", path, query, w.Code, w.Body)
			}
			if w.Code != 200 {
				continue
			}
			var list struct {
				Data []any `json:"data"`
			}
			if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || malformed != nil || values.Get("cursor") != "" || values.Get("limit") == "1" && len(list.Data) > 1 {
				t.Errorf("GET %s?%q = %s, %v; want a refusal, or at most one entry with limit 1", path, query, w.Body, err)
			}
		}
	})
}
