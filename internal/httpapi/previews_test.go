package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"surehook.example/surehook/internal/admin/preview"
	"surehook.example/surehook/internal/rule/sign"
)

// shown is the preview of a request.
type shown struct {
	Request struct {
		Method, URL, Body string
		Headers           map[string]string
	}
	Shape, Secret       string
	Subscribed, Matches bool
	Problems            []struct{ Field, Message string }
}

func TestPreview(t *testing.T) {
	t.Parallel()

	const url = `{"url":"https://example.com/hook","uid":"crm"`
	tests := []struct {
		name, endpoint, body string
		want                 string // the body of the request
		shape                string
		subscribed, matches  bool
		headers              map[string]string
	}{
		{
			name: "raw, the payload byte for byte", endpoint: url + `}`, body: `{"event_type":"order.paid","payload":{"b": 1.0, "a":1}}`,
			want: `{"b": 1.0, "a":1}`, shape: "raw", subscribed: true, matches: true,
			headers: map[string]string{"Content-Type": "application/json", "X-Webhook-Event": "order.paid", "X-Webhook-Attempt": "1", "Accept": "*/*"},
		},
		{
			name: "an envelope to try", endpoint: url + `}`, body: `{"event_type":"order.paid","payload":1,"envelope":"standard"}`,
			want: `{"type":"order.paid","timestamp":"2026-11-21T09:30:00.000Z","data":1}`, shape: "standard", subscribed: true, matches: true,
		},
		{
			name: "the endpoint's own settings", endpoint: url + `,"envelope":"thin","event_types":["a"],"filter":{"type":["b"]},"headers":{"X-Shop":"secret","accept":"text/xml"},"auth":{"type":"bearer","token":"secret"}}`,
			body: `{"event_type":"order.paid","payload":1}`, shape: "thin",
			headers: map[string]string{"X-Shop": "***", "Authorization": "***", "Accept": "***"},
		},
		{
			name: "a transformation to try", endpoint: url + `}`,
			body: `{"event_type":"order.paid","payload":{"n":9007199254740993},"transformation":"{\"body\": \"n=\" + string(event.data.n), \"headers\": {\"X-N\": \"1\"}}"}`,
			want: `n=9007199254740993`, shape: "cel-", subscribed: true, matches: true,
			headers: map[string]string{"Content-Type": "text/plain; charset=utf-8", "X-N": "1"},
		},
		{
			name: "a filter to try", endpoint: url + `,"signature_profiles":["stripe"]}`, body: `{"event_type":"order.paid","payload":{"n":1},"filter":{"payload":{"n":[2]}}}`,
			want: `{"n":1}`, shape: "raw", subscribed: true, matches: false,
		},
		{
			name: "several events", endpoint: url + `,"coalesce":{"window":"5s"}}`, body: `{"event_type":"order.paid","payload":1}`, shape: "webhook.batch", subscribed: true, matches: true,
			headers: map[string]string{"X-Webhook-Event": "webhook.batch"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			b.create(t, tt.endpoint)
			got := get[shown](t, b, reader, 200, "POST", endpoints+"/crm/preview", tt.body)
			if got.Request.Method != http.MethodPost || got.Request.URL != "https://example.com/hook" || tt.want != "" && got.Request.Body != tt.want ||
				!strings.HasPrefix(got.Shape, tt.shape) || got.Subscribed != tt.subscribed || got.Matches != tt.matches {
				t.Errorf("preview = %+v", got)
			}
			for name, want := range tt.headers {
				if got.Request.Headers[name] != want {
					t.Errorf("header %s = %q; want %q", name, got.Request.Headers[name], want)
				}
			}
		})
	}
}

// TestPreview_signature verifies the preview with the public library and the secret in the
// response.
func TestPreview_signature(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.create(t, `{"url":"https://example.com/hook","uid":"crm","signature_schemes":["v1a","v1"]}`)
	got := get[shown](t, b, reader, 200, "POST", endpoints+"/crm/preview", `{"event_type":"order.paid","payload":{"b": 1}}`)
	h := make(http.Header)
	for name, value := range got.Request.Headers {
		h.Set(name, value)
	}
	webhook, err := standardwebhooks.NewWebhook(got.Secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := webhook.VerifyIgnoringTimestamp([]byte(got.Request.Body), h); err != nil {
		t.Errorf("Verify() = %v with %v", err, h)
	}
	for _, text := range []string{preview.Secret, preview.PrivateKey} {
		if _, err := sign.Parse(text); err != nil {
			t.Errorf("Parse(%q) = %v", text, err)
		}
	}
}

func TestPreview_event(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.create(t, `{"url":"https://example.com/hook","uid":"crm"}`)
	b.do(t, admin, "PUT", "/v1/event-types/order.paid", `{"schema":{"type":"object","required":["total"]},"example":{"total":7}}`)
	if got := get[shown](t, b, reader, 200, "POST", endpoints+"/crm/preview", `{"event_type":"order.paid"}`); got.Request.Body != `{"total":7}` || len(got.Problems) > 0 {
		t.Errorf("preview of the example = %+v", got)
	}
	long := get[shown](t, b, reader, 200, "POST", endpoints+"/crm/preview",
		`{"event_type":"a","payload":{"n":1e401},"filter":{"payload":{"n":[{"numeric":[">",0]}]}}}`)
	if want := "no comparison matches the number in the event: it has more than 40 digits, or an exponent beyond 400"; long.Matches || len(long.Problems) != 1 ||
		long.Problems[0].Field != "filter/payload/n" || long.Problems[0].Message != want {
		t.Errorf("preview of a long number = %+v", long)
	}
	posted := get[object](t, b, owner, 202, "POST", "/v1/tenants/acme/events", `{"event_type":"order.paid","payload":{"n":1}}`)
	id, _ := posted["id"].(string)
	got := get[shown](t, b, reader, 200, "POST", endpoints+"/crm/preview", fmt.Sprintf(`{"event_id":%q}`, id))
	if got.Request.Body != `{"n":1}` || got.Request.Headers["Webhook-Id"] != id || len(got.Problems) != 1 || got.Problems[0].Message != "missing property 'total'" {
		t.Errorf("preview of %s = %+v", id, got)
	}
}

func TestPreview_refusals(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.create(t, `{"url":"https://example.com/hook","uid":"crm"}`)
	tests := []struct {
		name, body, want string
		status           int
	}{
		{name: "nothing", body: `{}`, status: 400, want: `"field":"event_type"`},
		{name: "an event in two ways", body: `{"event_id":"evt_1","event_type":"a"}`, status: 400, want: `"field":"event_type"`},
		{name: "an unknown event", body: `{"event_id":"evt_01h455vb4pex5vsknk084sn02q"}`, status: 404},
		{name: "a type without an example", body: `{"event_type":"a"}`, status: 400, want: `"field":"payload","message":"is missing, and the event type has no example"`},
		{name: "a wrong type", body: `{"event_type":"a b","payload":1}`, status: 400, want: `"field":"event_type"`},
		{name: "a mistake in the expression", body: `{"event_type":"a","payload":1,"transformation":"{\"body\": evnt}"}`, status: 400, want: `"field":"transformation","message":"line 1, column 10: undeclared reference to 'evnt'`},
		{name: "an event that it cannot shape", body: `{"event_type":"a","payload":{},"transformation":"{\"body\": event.data.n}"}`, status: 400, want: `"field":"transformation","message":"line 1, column 20: no such key: n"`},
		{name: "a wrong filter", body: `{"event_type":"a","payload":1,"filter":{"a":[1]}}`, status: 400, want: `"field":"filter/a"`},
		{name: "a wrong envelope", body: `{"event_type":"a","payload":1,"envelope":"x"}`, status: 400, want: `"field":"envelope"`},
	}
	b.create(t, `{"url":"https://example.com/hook","uid":"window","coalesce":{"window":"10s"}}`)
	for field, value := range map[string]string{"transformation": `{\"body\": 1}`, "envelope": "thin"} {
		body := fmt.Sprintf(`{"event_type":"a","payload":1,%q:"%s"}`, field, value)
		w := b.do(t, reader, "POST", endpoints+"/window/preview", body)
		if want := fmt.Sprintf(`"field":%q`, field); w.Code != 400 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("preview of %s for an endpoint that coalesces = %d %s", field, w.Code, w.Body)
		}
	}
	for _, tt := range tests {
		if w := b.do(t, reader, "POST", endpoints+"/crm/preview", tt.body); w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
			t.Errorf("%s: %d %s; want %d with %s", tt.name, w.Code, w.Body, tt.status, tt.want)
		}
	}
	if w := b.do(t, reader, "POST", endpoints+"/nobody/preview", `{"event_type":"a","payload":1}`); w.Code != 404 {
		t.Errorf("preview of an unknown endpoint = %d", w.Code)
	}
}
