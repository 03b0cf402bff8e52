package httpapi_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/hook"
)

func TestEndpoints_create(t *testing.T) {
	t.Parallel()

	b := setup(t)
	w := b.do(t, owner, "POST", endpoints, `{"url":"https://example.com/hooks","secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}`)
	var e object
	if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || w.Code != 201 {
		t.Fatalf("POST = %d %s; want 201", w.Code, w.Body)
	}
	id := idOf(t, e)
	const at = `"2026-11-21T09:30:00.000Z"`
	base := `{"id":"` + id + `","uid":"","url":"https://example.com/hooks","description":"","event_types":["*"],"filter":{},"metadata":{},"headers":{},"auth":{"type":"none"},` +
		`"retry":{"preset":"standard"},"retry_on":[],"give_up_on":[],"timeout":"10s","max_age":"72h","max_retry_after":"1h",` +
		`"rate_per_second":0,"max_in_flight":0,"shards":1,"circuit":{"failures":5,"rate":0.5,"minimum":10,"cooldown":"10s","max_cooldown":"1h"},"ordered":false,"on_failure":"block","auto_disable":true,"record_headers":false,` +
		`"signature_profiles":["standard"],"signature_schemes":["v1"],"region":"","egress":"shared","envelope":"raw","transformation":"",` +
		`"status":"active","reason":"","status_since":` + at + `,"created_at":` + at + `,"updated_at":` + at + `,"version":1`
	if want := base + `,"secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}`; w.Body.String() != want {
		t.Errorf("POST = %s; want %s", w.Body, want)
	}
	for name, want := range map[string]string{
		"ETag": `"1"`, "Location": endpoints + "/" + id, "Cache-Control": "no-store", "Content-Type": "application/json",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s = %q; want %q", name, got, want)
		}
	}
	w = b.do(t, reader, "GET", endpoints+"/"+id, "")
	want := base + `,"slow":false,"circuit_state":{"state":"closed","strained":false,"failures":0,"waiting":false},"signed_by":"new"}`
	if w.Code != 200 || w.Body.String() != want || w.Header().Get("ETag") != `"1"` {
		t.Errorf("GET = %d %s, ETag %s; want 200 %s without the secret", w.Code, w.Body, w.Header().Get("ETag"), want)
	}
	w = b.do(t, reader, "GET", endpoints, "")
	if want := `{"data":[` + base + `}],"next_cursor":null}`; w.Code != 200 || w.Body.String() != want {
		t.Errorf("GET list = %d %s; want 200 %s", w.Code, w.Body, want)
	}
}

// TestEndpoints_roundTrip checks that responses return all settings unchanged.
func TestEndpoints_roundTrip(t *testing.T) {
	t.Parallel()

	type testcase struct{ name, field, value, want string }
	tests := []testcase{
		{name: "an alias", field: "uid", value: `"crm"`, want: ""},
		{name: "a description", field: "description", value: `"for the CRM"`, want: ""},
		{name: "types", field: "event_types", value: `["order.*","user.created"]`, want: ""},
		{name: "a filter", field: "filter", value: `{"payload":{"n":[{"numeric":[">",1.50]},300.0]},"type":["a"]}`, want: ""},
		{name: "no filter", field: "filter", value: `{}`, want: ""},
		{name: "metadata", field: "metadata", value: `{"team":"a"}`, want: ""},
		{name: "headers", field: "headers", value: `{"X-Team":"a b"}`, want: `{"X-Team":"***"}`},
		{name: "basic authentication", field: "auth", value: `{"type":"basic","username":"u","password":"a b:ü"}`, want: `{"type":"basic","username":"u","password":"***"}`},
		{name: "a bearer token", field: "auth", value: `{"type":"bearer","token":"t.0-_~+/="}`, want: `{"type":"bearer","token":"***"}`},
		{
			name: "a client", field: "auth", value: `{"type":"oauth2","token_url":"https://id.example.com/token","client_id":"c","client_secret":"s"}`,
			want: `{"type":"oauth2","token_url":"https://id.example.com/token","client_id":"c","client_secret":"***","client_auth":"basic"}`,
		},
		{
			name: "a client with everything", field: "auth",
			value: `{"type":"oauth2","token_url":"https://id.example.com/token","client_id":"c","client_secret":"s","scope":"a b","audience":"d","client_auth":"body"}`,
			want:  `{"type":"oauth2","token_url":"https://id.example.com/token","client_id":"c","client_secret":"***","scope":"a b","audience":"d","client_auth":"body"}`,
		},
		{name: "no authentication", field: "auth", value: `{"type":"none"}`, want: ""},
		{name: "a preset", field: "retry", value: `{"preset":"day"}`, want: ""},
		{name: "a schedule", field: "retry", value: `{"schedule":["90s","24h","1.5h"],"jitter":"none"}`, want: `{"schedule":["1m30s","24h","1h30m"],"jitter":"none"}`},
		{name: "a schedule without jitter", field: "retry", value: `{"schedule":["1s"]}`, want: `{"schedule":["1s"],"jitter":"full"}`},
		{
			name: "an exponential", field: "retry", value: `{"exponential":{"base":"1s","factor":1.5,"cap":"1h","attempts":9},"jitter":"equal"}`, want: "",
		},
		{name: "more retries", field: "retry_on", value: `[404,401]`, want: ""},
		{name: "fewer retries", field: "give_up_on", value: `[501]`, want: ""},
		{name: "no status", field: "give_up_on", value: `[]`, want: ""},
		{name: "a timeout", field: "timeout", value: `"1500ms"`, want: `"1.5s"`},
		{name: "a max_age", field: "max_age", value: `"90m"`, want: `"1h30m"`},
		{name: "a max_retry_after", field: "max_retry_after", value: `"2m"`, want: `"2m"`},
		{name: "the default max_retry_after", field: "max_retry_after", value: `"0s"`, want: `"1h"`},
		{name: "a rate", field: "rate_per_second", value: `0.5`, want: ""},
		{name: "no rate", field: "rate_per_second", value: `0`, want: ""},
		{name: "shards", field: "shards", value: `4`, want: ""},
		{name: "an in-flight limit", field: "max_in_flight", value: `2`, want: ""},
		{
			name: "a circuit", field: "circuit", value: `{"failures":3,"rate":1,"minimum":20,"cooldown":"90s","max_cooldown":"2h"}`,
			want: `{"failures":3,"rate":1,"minimum":20,"cooldown":"1m30s","max_cooldown":"2h"}`,
		},
		{
			name: "a part of a circuit", field: "circuit", value: `{"cooldown":"2h"}`,
			want: `{"failures":5,"rate":0.5,"minimum":10,"cooldown":"2h","max_cooldown":"2h"}`,
		},
		{name: "an order", field: "ordered", value: `true`, want: ""},
		{name: "a dead delivery is skipped", field: "on_failure", value: `"skip"`, want: ""},
		{name: "no disabling by a review", field: "auto_disable", value: `false`, want: ""},
		{name: "headers of successes", field: "record_headers", value: `true`, want: ""},
		{name: "profile classic", field: "signature_profiles", value: `["classic"]`, want: ""},
		{name: "both schemes", field: "signature_schemes", value: `["v1","v1a"]`, want: ""},
		{name: "another region", field: "region", value: `"us-east-1"`, want: ""},
		{name: "fixed addresses", field: "egress", value: `"fixed"`, want: ""},
		{name: "an envelope", field: "envelope", value: `"thin"`, want: ""},
	}
	for field := range reflect.TypeFor[endpoint.Fields]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		elsewhere := []string{"url", "tls", "coalesce", "destination", "transformation", "-"} // have tests of their own, or are no setting
		if !slices.Contains(elsewhere, name) && !slices.ContainsFunc(tests, func(tt testcase) bool { return tt.field == name }) {
			t.Errorf("no row sets %s", name)
		}
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			if tt.want == "" {
				tt.want = tt.value
			}
			created := b.create(t, fmt.Sprintf(`{"url":"https://example.com/",%q:%s}`, tt.field, tt.value))
			path := endpoints + "/" + idOf(t, created)
			check := func(what string, o object) {
				t.Helper()
				got, err := json.Marshal(o[tt.field])
				if err != nil || !sameJSON(t, string(got), tt.want) {
					t.Errorf("%s: %s = %s, %v; want %s", what, tt.field, got, err, tt.want)
				}
			}
			check("POST", created)
			check("GET", get[object](t, b, owner, 200, "GET", path, ""))
			check("PATCH with itself", get[object](t, b, owner, 200, "PATCH", path, fmt.Sprintf(`{%q:%s}`, tt.field, tt.want)))
		})
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()

	var x, y any
	if err := json.Unmarshal([]byte(a), &x); err != nil {
		t.Fatalf("%s: %v", a, err)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return cmp.Equal(x, y)
}

func TestEndpoints_patch(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.create(t, `{"url":"https://example.com/","uid":"crm","description":"old","metadata":{"a":"1","b":"2"}}`)
	const path = endpoints + "/crm"
	w := b.do(t, owner, "PATCH", path, `{"metadata":{"c":"3"}}`, `If-Match: "1"`)
	var e object
	if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || w.Code != 200 || w.Header().Get("ETag") != `"2"` {
		t.Fatalf("PATCH = %d %s, ETag %s; want 200 and version 2", w.Code, w.Body, w.Header().Get("ETag"))
	}
	if e["description"] != "old" || !cmp.Equal(e["metadata"], any(object{"c": "3"})) || e["secret"] != nil {
		t.Errorf("PATCH = %s; want only the metadata changed, and no secret", w.Body)
	}
	stale := b.do(t, owner, "PATCH", path, `{"description":"new"}`, `If-Match: "1"`)
	if want := plain(412, "precondition_failed", "the endpoint was changed since it was read"); stale.Code != 412 || stale.Body.String() != want {
		t.Errorf("PATCH of an old version = %d %s; want 412 %s", stale.Code, stale.Body, want)
	}
	if w := b.do(t, owner, "PATCH", path, `{"description":""}`, `If-Match: *`); w.Code != 200 || !strings.Contains(w.Body.String(), `"description":""`) {
		t.Errorf("PATCH of any version = %d %s; want 200 and an empty description", w.Code, w.Body)
	}
	for body, want := range map[string]string{
		`{"uid":"erp"}`:      invalid("uid", "cannot be changed"),
		`{"status":"x"}`:     invalid("status", "is not a known field"),
		`{"secret":"x"}`:     invalid("secret", "is not a known field"),
		`{"url":"https://"}`: invalid("url", "must name a host after https://"),
		``:                   invalid("body", "is missing"),
	} {
		if w := b.do(t, owner, "PATCH", path, body); w.Code != 400 || w.Body.String() != want {
			t.Errorf("PATCH %s = %d %s; want 400 %s", body, w.Code, w.Body, want)
		}
	}
}

// TestEndpoints_patchUnchanged checks that setting the stored values again changes neither the
// version nor the time.
func TestEndpoints_patchUnchanged(t *testing.T) {
	t.Parallel()

	const path = endpoints + "/crm"
	for _, body := range []string{
		`{"url":"https://example.com/","uid":"crm"}`,
		`{"url":"https://example.com/","uid":"crm","description":"d","event_types":["a","b.*"],"filter":{"type": ["a"]},"metadata":{"a":"1"},"headers":{"X-A":"sesame"},` +
			`"retry":{"schedule":["1m","1h"],"jitter":"equal"},"retry_on":[404],"give_up_on":[],"timeout":"5s","rate_per_second":2.5,"max_in_flight":3,"shards":4,` +
			`"circuit":{"failures":7,"max_cooldown":"2h"},"auto_disable":false,"record_headers":true,"signature_schemes":["v1","v1a"]}`,
		`{"url":"https://example.com/","uid":"crm","signature_profiles":["classic"],"retry":{"exponential":{"base":"1s","factor":2,"cap":"1m","attempts":4}}}`,
	} {
		b := setup(t)
		b.create(t, body)
		stored := get[map[string]json.RawMessage](t, b, owner, 200, "GET", path, "")
		b.now = b.now.Add(time.Minute)
		whole := make(map[string]json.RawMessage)
		for _, field := range []string{
			"uid", "url", "description", "event_types", "filter", "metadata", "headers", "retry", "retry_on", "give_up_on", "timeout", "max_age", "max_retry_after", "rate_per_second", "max_in_flight",
			"shards", "circuit", "auto_disable", "record_headers", "signature_profiles", "signature_schemes", "region", "egress", "envelope", "transformation",
		} {
			whole[field] = stored[field]
			one, _ := json.Marshal(map[string]json.RawMessage{field: stored[field]})
			if w := b.do(t, owner, "PATCH", path, string(one)); w.Code != 200 || w.Header().Get("ETag") != `"1"` {
				t.Errorf("PATCH %s = %d %s, ETag %s; want 200 and version 1", one, w.Code, w.Body, w.Header().Get("ETag"))
			}
		}
		all, _ := json.Marshal(whole)
		for _, body := range []string{`{}`, string(all)} {
			got := get[map[string]json.RawMessage](t, b, owner, 200, "PATCH", path, body)
			if string(got["version"]) != "1" || string(got["updated_at"]) != string(stored["updated_at"]) {
				t.Errorf("PATCH %s = version %s of %s; want version 1 of %s", body, got["version"], got["updated_at"], stored["updated_at"])
			}
		}
		if w := b.do(t, owner, "PATCH", path, `{"headers":{"X-A":"sesame"}}`); w.Header().Get("ETag") != `"2"` {
			t.Errorf("PATCH with a header = %d, ETag %s; want version 2", w.Code, w.Header().Get("ETag"))
		}
	}
}

func TestEndpoints_delete(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.create(t, `{"url":"https://example.com/","uid":"crm"}`)
	if w := b.do(t, owner, "POST", endpoints, `{"url":"https://example.com/","uid":"crm"}`); w.Code != 409 {
		t.Errorf("POST of a uid that is taken = %d %s; want 409", w.Code, w.Body)
	}
	if w := b.do(t, owner, "DELETE", endpoints+"/crm", "", `If-Match: "2"`); w.Code != 412 {
		t.Errorf("DELETE of another version = %d %s; want 412", w.Code, w.Body)
	}
	if w := b.do(t, owner, "DELETE", endpoints+"/crm", ""); w.Code != 204 || w.Body.Len() != 0 {
		t.Errorf("DELETE = %d %s; want 204 and no body", w.Code, w.Body)
	}
	gone := plain(404, "not_found", "no such endpoint")
	for _, r := range [][3]string{
		{"GET", "", ""},
		{"PATCH", "", "{}"},
		{"DELETE", "", ""},
		{"POST", "/rotate-secret", ""},
		{"POST", "/test", ""},
		{"POST", "/pause", ""},
		{"POST", "/resume", ""},
		{"POST", "/enable", ""},
		{"POST", "/disable", ""},
		{"POST", "/circuit/reset", ""},
		{"POST", "/circuit/open", ""},
		{"POST", "/circuit/probe", ""},
		{"GET", "/deliveries?state=dead", ""},
	} {
		if w := b.do(t, owner, r[0], endpoints+"/crm"+r[1], r[2]); w.Code != 404 || w.Body.String() != gone {
			t.Errorf("%s %s of a deleted endpoint = %d %s; want 404 %s", r[0], r[1], w.Code, w.Body, gone)
		}
	}
}

// TestEndpoints_headerValues checks that no caller sees header values.
func TestEndpoints_headerValues(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e := b.create(t, `{"url":"https://example.com/","headers":{"X-Api-Key":"hush"}}`)
	writer := hook.Principal{Key: "key_2", Tenant: "acme", Scopes: []hook.Scope{hook.ScopeRead, hook.ScopeEndpointsWrite}}
	for _, target := range []string{endpoints, endpoints + "/" + idOf(t, e)} {
		for p, want := range map[string]string{"reader": "***", "writer": "***"} {
			caller := map[string]hook.Principal{"reader": reader, "writer": writer}[p]
			if w := b.do(t, caller, "GET", target, ""); !strings.Contains(w.Body.String(), `"headers":{"X-Api-Key":"`+want+`"}`) {
				t.Errorf("GET %s by a %s = %s; want the value %q", target, p, w.Body, want)
			}
		}
	}
}

func TestEndpoints_rotateSecret(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e := b.create(t, `{"url":"https://example.com/","signature_schemes":["v1","v1a"]}`)
	id := hook.EndpointID(idOf(t, e))
	path := endpoints + "/" + string(id) + "/rotate-secret"
	active := func(at time.Duration) int {
		t.Helper()
		stored, err := b.store.Endpoint(t.Context(), "acme", id)
		if err != nil {
			t.Fatalf("Endpoint = %v", err)
		}
		return len(stored.Active(b.now.Add(at)))
	}

	rotated := get[object](t, b, owner, 200, "POST", path, "")
	if rotated["secret"] == e["secret"] || rotated["public_key"] == e["public_key"] || rotated["version"] != 2.0 {
		t.Errorf("rotate-secret = %v; want another secret, another public key and version 2", rotated)
	}
	if before, after := active(24*time.Hour-time.Millisecond), active(24*time.Hour); before != 4 || after != 2 {
		t.Errorf("%d secrets sign until the overlap ends and %d after it; want 4 and 2", before, after)
	}
	until := func() any {
		return get[object](t, b, reader, 200, "GET", endpoints+"/"+string(id), "")["old_secrets_until"]
	}
	if got, want := until(), b.now.Add(24*time.Hour).Format("2006-01-02T15:04:05.000Z"); got != want {
		t.Errorf("old_secrets_until = %v; want %s", got, want)
	}
	if got := get[object](t, b, reader, 200, "GET", endpoints+"/"+string(id), "")["signed_by"]; got != "both" {
		t.Errorf("signed_by = %v; want both", got)
	}
	for query, want := range map[string]int{"signed_by=both": 1, "signed_by=old": 0, "signed_by=new": 0} {
		if l := get[object](t, b, reader, 200, "GET", endpoints+"?"+query, "")["data"].([]any); len(l) != want { //nolint:errcheck,forcetypeassert // a test
			t.Errorf("%s = %v; want %d", query, l, want)
		}
	}
	get[object](t, b, owner, 200, "POST", endpoints+"/"+string(id)+"/end-overlap", "")
	if got, sign := until(), active(0); got != nil || sign != 2 {
		t.Errorf("old_secrets_until = %v, %d secrets; want no old ones after end-overlap", got, sign)
	}
	given := "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	rotated = get[object](t, b, owner, 200, "POST", path, `{"secret":"`+given+`","overlap":"0s"}`)
	if rotated["secret"] != given || active(0) != 2 {
		t.Errorf("rotate-secret = %v, %d secrets; want the one given, and no old ones", rotated["secret"], active(0))
	}
	if got := until(); got != nil {
		t.Errorf("old_secrets_until = %v; want none without old secrets", got)
	}
	for body, want := range map[string]string{
		`{"overlap":"169h"}`: invalid("overlap", "must be 0s to 168h"),
		`{"overlap":"-1s"}`:  invalid("overlap", "must be 0s to 168h"),
		`{"overlap":"1d"}`:   invalid("overlap", duration),
		`{"overlap":3600}`:   invalid("overlap", duration),
		`{"secret":"hush"}`:  invalid("secret", "must be whsec_ and the base64 of 24 to 64 bytes, or text: and 16 to 128 visible characters"),
		`{"secret":""}`:      invalid("secret", "must not be empty"),
	} {
		if w := b.do(t, owner, "POST", path, body); w.Code != 400 || w.Body.String() != want {
			t.Errorf("POST %s = %d %s; want 400 %s", body, w.Code, w.Body, want)
		}
	}
}

func TestEndpoints_status(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.create(t, `{"url":"https://example.com/","uid":"crm"}`)
	steps := []struct {
		verb           string
		status         int
		want, reason   string
		problemMessage string
	}{
		{verb: "pause", status: 200, want: "paused", reason: "manual", problemMessage: ""},
		{verb: "pause", status: 200, want: "paused", reason: "manual", problemMessage: ""},
		{verb: "enable", status: 409, want: "", reason: "", problemMessage: "the endpoint is paused"},
		{verb: "test", status: 409, want: "", reason: "", problemMessage: "the endpoint is paused"},
		{verb: "resume", status: 200, want: "active", reason: "", problemMessage: ""},
		{verb: "disable", status: 200, want: "disabled", reason: "manual", problemMessage: ""},
		{verb: "resume", status: 409, want: "", reason: "", problemMessage: "the endpoint is disabled"},
		{verb: "pause", status: 409, want: "", reason: "", problemMessage: "the endpoint is disabled"},
		{verb: "enable", status: 200, want: "active", reason: "", problemMessage: ""},
	}
	for _, step := range steps {
		w := b.do(t, owner, "POST", endpoints+"/crm/"+step.verb, "")
		if step.status == 409 {
			if want := plain(409, "conflict", step.problemMessage); w.Code != 409 || w.Body.String() != want {
				t.Errorf("%s = %d %s; want 409 %s", step.verb, w.Code, w.Body, want)
			}
			continue
		}
		want := fmt.Sprintf(`"status":%q,"reason":%q,`, step.want, step.reason)
		if w.Code != step.status || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s = %d %s; want %d with %s", step.verb, w.Code, w.Body, step.status, want)
		}
	}
}

func TestEndpoints_test(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e := b.create(t, `{"url":"https://example.com/","event_types":["order.*"]}`)
	b.create(t, `{"url":"https://example.org/","event_types":["*","webhook.*"]}`)
	path := endpoints + "/" + idOf(t, e) + "/test"
	for body, want := range map[string]string{"": "webhook.test", `{"event_type":"user.created"}`: "webhook.test"} {
		accepted := get[object](t, b, owner, 202, "POST", path, body)
		stored, err := b.store.Event(t.Context(), hook.EventID(idOf(t, accepted)))
		if err != nil || accepted["deliveries"] != 1.0 || stored.Type != want || !stored.ID.IsTest() || !slices.Equal(stored.Targets, []hook.Target{{Endpoint: hook.EndpointID(idOf(t, e)), Shards: 1}}) {
			t.Errorf("test %s = %v: %s for %v, %v; want %s for this endpoint only", body, accepted, stored.Type, stored.Targets, err, want)
		}
		if !json.Valid(stored.Payload) {
			t.Errorf("payload = %s; want JSON", stored.Payload)
		}
	}
	if n := len(b.queue.Receive(hook.QueueLive, 10)); n != 2 {
		t.Errorf("%d tokens were sent; want 2", n)
	}
	for body, want := range map[string]string{
		`{"event_type":"webhook.x"}`: invalid("event_type", "types that begin with webhook. are made by Surehook only"),
		`{"event_type":""}`:          invalid("event_type", "must not be empty"),
		`{"type":"a"}`:               invalid("type", "is not a known field: did you mean event_type?"),
	} {
		if w := b.do(t, owner, "POST", path, body); w.Code != 400 || w.Body.String() != want {
			t.Errorf("POST %s = %d %s; want 400 %s", body, w.Code, w.Body, want)
		}
	}
}

// The list has the endpoints with the ids, each once, and none of another tenant.
func TestEndpoints_ids(t *testing.T) {
	t.Parallel()

	b := setup(t)
	a, c := idOf(t, b.create(t, `{"url":"https://example.com/","uid":"a"}`)), idOf(t, b.create(t, `{"url":"https://example.com/","uid":"c"}`))
	b.create(t, `{"url":"https://example.com/","uid":"d"}`)
	var other struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(b.do(t, admin, "POST", "/v1/tenants/globex/endpoints", `{"url":"https://example.com/"}`).Body.Bytes(), &other); err != nil {
		t.Fatal(err)
	}
	gone := string(hook.NewEndpointID())
	list := get[struct {
		Data []struct {
			ID string `json:"id"`
		}
		Next *string `json:"next_cursor"`
	}](t, b, reader, 200, "GET", endpoints+"?ids="+strings.Join([]string{c, a, gone, other.ID, c}, ","), "")
	want := []string{a, c}
	slices.Sort(want)
	if len(list.Data) != 2 || list.Data[0].ID != want[0] || list.Data[1].ID != want[1] || list.Next != nil {
		t.Errorf("GET endpoints = %+v; want %v alone", list, want)
	}
	many := strings.TrimSuffix(strings.Repeat(a+",", 100), ",")
	for range 101 {
		many += "," + string(hook.NewEndpointID())
	}
	for query, wrong := range map[string]string{
		"ids=": "must be ids", "ids=a": "must be ids", "ids=" + a + ",": "must be ids", "ids=" + a + "&slow=true": "must be absent with slow", "ids=" + many: "at most 100",
	} {
		if w := b.do(t, reader, "GET", endpoints+"?"+query, ""); w.Code != 400 || !strings.Contains(w.Body.String(), wrong) {
			t.Errorf("GET endpoints?%.40s = %d %s; want 400 %s", query, w.Code, w.Body, wrong)
		}
	}
}
