package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
)

const eventTypes = "/v1/event-types"

func TestEventTypes(t *testing.T) {
	t.Parallel()

	b := setup(t)
	path := eventTypes + "/order.paid"
	put := func(status int, body string, headers ...string) object {
		t.Helper()
		return get[object](t, b, admin, status, "PUT", path, body, headers...)
	}
	want := object{
		"event_type": "order.paid", "description": "Paid.", "group": "Billing", "archived": false, "validation": "warn", "version": 1.0,
		"schema": object{"type": "object"}, "example": object{"order": 7.0},
		"created_at": "2026-11-21T09:30:00.000Z", "updated_at": "2026-11-21T09:30:00.000Z",
	}
	body := `{"description":"Paid.","group":"Billing","schema":{ "type": "object" },"example":{"order":7},"validation":"warn"}`
	if diff := cmp.Diff(want, put(201, body)); diff != "" {
		t.Errorf("PUT new (-want +got):\n%s", diff)
	}
	for _, p := range []hook.Principal{admin, reader, rival} {
		if diff := cmp.Diff(want, get[object](t, b, p, 200, "GET", path, "")); diff != "" {
			t.Errorf("GET by %s (-want +got):\n%s", p.Tenant, diff)
		}
	}
	b.now = b.now.Add(time.Minute)
	if diff := cmp.Diff(want, put(200, body)); diff != "" { // without a difference, the version stays
		t.Errorf("PUT the same (-want +got):\n%s", diff)
	}
	put(412, `{}`, `If-Match: "2"`)
	want = object{
		"event_type": "order.paid", "description": "", "group": "", "archived": true, "version": 2.0,
		"created_at": "2026-11-21T09:30:00.000Z", "updated_at": "2026-11-21T09:31:00.000Z",
	}
	if diff := cmp.Diff(want, put(200, `{"archived":true}`, `If-Match: "1"`)); diff != "" {
		t.Errorf("PUT replaces all fields (-want +got):\n%s", diff)
	}
	if w := b.do(t, reader, "GET", path, ""); w.Header().Get("ETag") != `"2"` {
		t.Errorf("ETag = %s; want version 2", w.Header().Get("ETag"))
	}
	for _, step := range []struct {
		method, path, match string
		status              int
	}{
		{"DELETE", path, `"1"`, 412},
		{"DELETE", path, `"2"`, 204},
		{"DELETE", path, "*", 404},
		{"GET", path, "", 404},
		{"PUT", path, `"2"`, 412},
		{"GET", eventTypes + "/a%20b", "", 404},
		{"DELETE", eventTypes + "/a%20b", "", 404},
	} {
		var headers []string
		if step.match != "" {
			headers = append(headers, "If-Match: "+step.match)
		}
		text := ""
		if step.method == http.MethodPut {
			text = "{}"
		}
		if w := b.do(t, admin, step.method, step.path, text, headers...); w.Code != step.status {
			t.Errorf("%s %s if %s = %d %s; want %d", step.method, step.path, step.match, w.Code, w.Body, step.status)
		}
	}
}

func TestEventTypes_invalid(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name, path, body string
		want             []hook.FieldError
	}{
		{name: "name", path: "/a%20b", body: `{}`, want: []hook.FieldError{{Field: "event_type", Message: "must be 1 to 128 of A-Z a-z 0-9 _ . : -, and not . or .."}}},
		{name: "our own", path: "/webhook.test", body: `{}`, want: []hook.FieldError{{Field: "event_type", Message: "types that begin with webhook. are Surehook's own"}}},
		{name: "all at once", path: "/a", body: `{"description":"\n","group":"` + strings.Repeat("g", 65) + `","schema":{"type":"text"},"validation":"maybe","archived":1}`, want: []hook.FieldError{
			{Field: "archived", Message: "must be true or false"},
			{Field: "description", Message: "must be at most 1024 bytes without control characters"},
			{Field: "group", Message: "must be at most 64 bytes without control characters"},
			{Field: "schema/type", Message: "value must be one of 'array', 'boolean', 'integer', 'null', 'number', 'object', 'string'"},
			{Field: "schema/type", Message: "got string, want array"},
			{Field: "validation", Message: "must be off, warn or reject"},
		}},
		{name: "a schema that is none", path: "/a", body: `{"schema":null}`, want: []hook.FieldError{{Field: "schema", Message: "must be an object, true or false"}}},
		{name: "a document elsewhere", path: "/a", body: `{"schema":{"$ref":"http://169.254.169.254/latest"}}`, want: []hook.FieldError{{Field: "schema", Message: "a reference must lead to a place in the schema itself"}}},
		{name: "an example that does not fit", path: "/a", body: `{"schema":{"properties":{"n":{"type":"integer"}},"required":["id"]},"example":{"n":"7"}}`, want: []hook.FieldError{
			{Field: "example", Message: "does not fit the schema: missing property 'id'"},
			{Field: "example/n", Message: "does not fit the schema: got string, want integer"},
		}},
		{name: "a large schema", path: "/a", body: `{"schema":{"title":"` + strings.Repeat("s", hook.MaxSchema) + `"}}`, want: []hook.FieldError{{Field: "schema", Message: "must be at most 32768 bytes"}}},
		{name: "a large example", path: "/a", body: `{"schema":false,"example":"` + strings.Repeat("e", hook.MaxExample) + `"}`, want: []hook.FieldError{{Field: "example", Message: "must be at most 16384 bytes"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			_, w := b.ask(t, admin, "PUT", eventTypes+tt.path, tt.body)
			var got struct {
				Errors []hook.FieldError `json:"errors"`
			}
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Errors); w.Code != 400 || diff != "" {
				t.Errorf("PUT = %d; errors (-want +got):\n%s", w.Code, diff)
			}
		})
	}
}

func TestEventTypes_list(t *testing.T) {
	t.Parallel()

	b := setup(t)
	for i := range 7 {
		body := fmt.Sprintf(`{"group":"%s","archived":%t}`, map[bool]string{true: "odd", false: ""}[i%2 == 1], i == 6)
		get[object](t, b, admin, 201, "PUT", fmt.Sprintf("%s/type.%d", eventTypes, i), body)
	}
	tests := []struct{ query, want string }{
		{"", "0 1 2 3 4 5"}, {"&archived=false", "0 1 2 3 4 5"}, {"&archived=true", "6"}, {"&group=odd", "1 3 5"}, {"&group=", "0 2 4"}, {"&group=none", ""},
	}
	for _, tt := range tests {
		for _, limit := range []int{1, 2, 3, 100} {
			var names []string
			for cursor, n := "", 0; ; n++ {
				list := get[struct {
					Data []struct {
						Name string `json:"event_type"`
					}
					Next *string `json:"next_cursor"`
				}](t, b, reader, 200, "GET", fmt.Sprintf("%s?limit=%d%s%s", eventTypes, limit, tt.query, cursor), "")
				for _, one := range list.Data {
					names = append(names, strings.TrimPrefix(one.Name, "type."))
				}
				if list.Next == nil || n > 10 {
					break
				}
				cursor = "&cursor=" + *list.Next
			}
			if got := strings.Join(names, " "); got != tt.want {
				t.Errorf("GET %s by %d = %q; want %q", tt.query, limit, got, tt.want)
			}
		}
	}
	for _, query := range []string{"?archived=yes", "?archived=", "?cursor=a", "?kind=a"} {
		if w := b.do(t, reader, "GET", eventTypes+query, ""); w.Code != 400 {
			t.Errorf("GET %s = %d; want 400", query, w.Code)
		}
	}
}

// TestEventTypes_records checks that audit records name the schema and the example by their
// hashes.
func TestEventTypes_records(t *testing.T) {
	t.Parallel()

	b := setup(t)
	path := eventTypes + "/order.paid"
	get[object](t, b, admin, 201, "PUT", path, `{"schema":{"type":"object"},"example":{},"description":"a"}`)
	b.now = b.now.Add(time.Minute)
	get[object](t, b, admin, 200, "PUT", path, `{"schema":{"type":"array"},"description":"a"}`)
	b.now = b.now.Add(time.Minute)
	b.do(t, admin, "DELETE", path, "")
	list := get[struct{ Data []object }](t, b, admin, 200, "GET", "/v1/audit", "")
	if len(list.Data) != 3 {
		t.Fatalf("GET = %d records; want 3", len(list.Data))
	}
	for i, want := range []string{"event_type.delete", "event_type.set", "event_type.set"} {
		if got := list.Data[i]; got["action"] != want || got["target"] != "order.paid" || got["outcome"] != "done" {
			t.Errorf("record %d = %v; want %s of order.paid", i, got, want)
		}
	}
	changes, _ := list.Data[1]["changes"].(object)
	schema, _ := changes["schema"].(object)
	if len(changes) != 2 || !strings.HasPrefix(fmt.Sprint(schema["old"]), "sha256:") || !strings.HasSuffix(fmt.Sprint(schema["new"]), ", 16 bytes") {
		t.Errorf("changes = %v; want schema and example by their hashes", changes)
	}
}

// checks makes order.paid a type with a schema and the validation.
func (b *bundle) checks(t *testing.T, validation string) {
	t.Helper()

	b.do(t, admin, "PUT", eventTypes+"/order.paid", `{"schema":{"type":"object","required":["order"],"properties":{"order":{"type":"integer"},"self":{"$ref":"#"},
		"sum":{"$ref":"#/$defs/sum"}},"$defs":{"sum":{"type":"integer"}}},"example":{"order":7},"validation":"`+validation+`"}`)
}

func TestEventTypes_reject(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.checks(t, "reject")
	want := `{"type":"about:blank","title":"Unprocessable Entity","status":422,"code":"event_type_mismatch","detail":"the event does not fit its event type",` +
		`"errors":[{"field":"payload/order","message":"got string, want integer"},{"field":"payload/self","message":"got number, want object"}]}`
	body := `{"event_type":"order.paid","payload":{"order":"7","self":1}}`
	if w := b.do(t, owner, "POST", "/v1/tenants/acme/events", body); w.Code != 422 || w.Body.String() != want {
		t.Errorf("POST = %d %s; want 422 %s", w.Code, w.Body, want)
	}
	w := b.do(t, owner, "POST", "/v1/tenants/acme/events/batch", `{"events":[`+body+`,{"event_type":"order.paid","payload":{"order":7}}]}`)
	if w.Code != 207 || !strings.Contains(w.Body.String(), `{"data":[{"error":`+want+`},{"id":`) {
		t.Errorf("POST batch = %d %s; want 207 with one refusal", w.Code, w.Body)
	}
}

func TestEventTypes_warn(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.checks(t, "warn")
	got := get[object](t, b, owner, 202, "POST", "/v1/tenants/acme/events", `{"event_type":"order.paid","payload":{"order":"secret"}}`)
	want := []any{object{"field": "payload/order", "message": "got string, want integer"}}
	if diff := cmp.Diff(want, got["warnings"]); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if log := b.log.String(); !strings.Contains(log, `"warnings":1`) || strings.Contains(log, "secret") {
		t.Errorf("log = %s; want the number of warnings without the payload", log)
	}
	b.log.Reset()
	got = get[object](t, b, owner, 202, "POST", "/v1/tenants/acme/events", `{"event_type":"order.paid","payload":{"order":7}}`)
	if got["warnings"] != nil || strings.Contains(b.log.String(), "warnings") {
		t.Errorf("POST = %v; want no warnings", got)
	}
}

// TestEventTypes_testEvent checks that the payload of a test event is the caller's, or else the
// example, or else a short text.
func TestEventTypes_testEvent(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.checks(t, "reject")
	id := fmt.Sprint(get[object](t, b, owner, 201, "POST", endpoints, `{"url":"https://example.com/"}`)["id"])
	for body, want := range map[string]string{
		`{"event_type":"order.paid"}`:                           `{"order":7}`,
		`{"event_type":"order.paid","payload":{"a": "sesame"}}`: `{"a": "sesame"}`,
		`{"payload":[1]}`:                                       `[1]`,
		`{"payload":null}`:                                      `null`,
		`{"event_type":"order.sent"}`:                           `This is a test event`,
		``:                                                      `This is a test event`,
	} {
		accepted := get[object](t, b, owner, 202, "POST", endpoints+"/"+id+"/test", body)
		stored, err := b.store.Event(t.Context(), hook.EventID(fmt.Sprint(accepted["id"])))
		if err != nil || !strings.Contains(string(stored.Payload), want) {
			t.Errorf("payload for %s = %s, %v; want %s", body, stored.Payload, err, want)
		}
	}
	if audit := b.do(t, admin, "GET", "/v1/tenants/acme/audit", "").Body.String(); strings.Contains(audit, "sesame") {
		t.Errorf("the records of changes hold a payload: %s", audit)
	}
}

// TestDocumentWithTypes_large checks that the most event types, in Lambda's largest encoding,
// stay below its 6 MB. Types without a schema and an example take space, too.
func TestDocumentWithTypes_large(t *testing.T) {
	t.Parallel()

	for name, fill := range map[string]func(*hook.EventType){
		"nothing":      func(*hook.EventType) {},
		"descriptions": func(e *hook.EventType) { e.Description = strings.Repeat("<", hook.MaxDescription) },
		"examples":     func(e *hook.EventType) { e.Example = []byte(`"` + strings.Repeat("<", 2000) + `"`) },
		"schemas":      func(e *hook.EventType) { e.Schema = []byte(`{"title":"` + strings.Repeat("&", 30_000) + `"}`) },
	} {
		b := setup(t)
		for i := range hook.MaxTypesPerEnvironment {
			e := hook.EventType{Name: fmt.Sprint("type", i)}
			fill(&e)
			if err := b.store.PutEventType(t.Context(), hook.EventType{}, e); err != nil {
				t.Fatal(err)
			}
		}
		_, w := b.ask(t, reader, "GET", "/v1/openapi.json?event_types=true", "")
		body, err := json.Marshal(w.Body.String())
		if err != nil || w.Code != 200 {
			t.Fatalf("GET = %d, %v", w.Code, err)
		}
		types := strings.Count(w.Body.String(), `"Receive type`)
		t.Logf("%s: %d types in %d bytes", name, types, len(body))
		if len(body) > 6_000_000 || types == 0 || name == "nothing" && types != hook.MaxTypesPerEnvironment {
			t.Errorf("%s: the response of Lambda has %d bytes and %d types; want at most 6 MB", name, len(body), types)
		}
	}
}

func TestDocumentWithTypes(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.checks(t, "warn")
	b.do(t, admin, "PUT", eventTypes+"/event", `{"example":[1]}`) // a name that the contract's webhooks have, too
	b.do(t, admin, "PUT", eventTypes+"/old", `{"archived":true}`)
	load := func(query string) *openapi3.T {
		t.Helper()
		w := b.do(t, reader, "GET", "/v1/openapi.json"+query, "")
		doc, err := openapi3.NewLoader().LoadFromData(w.Body.Bytes())
		if w.Code != 200 || err != nil {
			t.Fatalf("GET %s = %d, %v", query, w.Code, err)
		}
		if err := doc.Validate(t.Context(), openapi3.DisableExamplesValidation()); err != nil {
			t.Errorf("the document is not valid: %v", err)
		}
		if path := os.Getenv("DOCUMENT_OUT"); path != "" && query != "" { // for a linter
			_ = os.WriteFile(path, w.Body.Bytes(), 0o600)
		}
		return doc
	}
	plain, typed := load(""), load("?event_types=true")
	if n := len(typed.Webhooks) - len(plain.Webhooks); n != 2 || typed.Webhooks["old"] != nil || typed.Webhooks["event_"] == nil {
		t.Errorf("%d more webhooks; want order.paid and event_", n)
	}
	body := typed.Webhooks["order.paid"].Post.RequestBody.Value.Content["application/json"]
	const place = "#/components/schemas/event.order.paid"
	if body.Schema.Ref != place || !cmp.Equal(body.Example, any(object{"order": 7.0})) {
		t.Errorf("body = %+v; want the schema and the example", body)
	}
	properties := typed.Components.Schemas["event.order.paid"].Value.Properties
	if properties["self"].Ref != place || properties["sum"].Ref != place+"/$defs/sum" {
		t.Errorf("references = %s, %s; want them below %s", properties["self"].Ref, properties["sum"].Ref, place)
	}
	if w := b.do(t, reader, "GET", "/v1/openapi.json?event_types=1", ""); w.Code != 400 {
		t.Errorf("GET ?event_types=1 = %d; want 400", w.Code)
	}
}
