//go:build e2e

package localstack_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"surehook.example/surehook/localstack/stack"
)

func TestBadInputIsAProblemDocument(t *testing.T) {
	t.Parallel()

	b := setup(t)
	other := b.endpoint("a", nil)
	b.call(http.MethodPost, "/events", map[string]any{"event_type": "t", "payload": 1, "idempotency_key": "taken"}, http.StatusAccepted, nil)
	own := "/v1/tenants/" + b.tenant
	tests := []struct {
		name, method, path, body string
		status                   int
		code, field              string
	}{
		{name: "no JSON", method: "POST", path: own + "/events", body: `{"event_type":`, status: 400, code: "invalid"},
		{name: "an unknown field", method: "POST", path: own + "/events", body: `{"event_type":"t","payload":1,"colour":"red"}`, status: 400, code: "invalid"},
		{name: "a bad event type", method: "POST", path: own + "/events", body: `{"event_type":"a b","payload":1}`, status: 400, code: "invalid", field: "event_type"},
		{name: "no URL", method: "POST", path: own + "/endpoints", body: `{"url":"ftp://x","event_types":["*"]}`, status: 400, code: "invalid", field: "url"},
		{name: "no such endpoint", method: "GET", path: own + "/endpoints/ep_0123456789abcdef", status: 404, code: "not_found"},
		{name: "no such delivery", method: "GET", path: own + "/deliveries/nonsense", status: 404, code: "not_found"},
		{name: "another tenant's endpoint", method: "GET", path: "/v1/tenants/somebody-else/endpoints/" + other.ID, status: 404, code: "not_found"},
		{name: "another body under the same key", method: "POST", path: own + "/events", body: `{"event_type":"t","payload":2,"idempotency_key":"taken"}`, status: 409, code: "conflict"},
		{name: "too large", method: "POST", path: own + "/events", body: `{"event_type":"t","payload":"` + strings.Repeat("x", 256<<10) + `"}`, status: 413, code: "too_large"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			var body []byte
			if tt.body != "" {
				body = []byte(tt.body)
			}
			resp, err := world.api.Do(t.Context(), tt.method, tt.path, body)
			if err != nil {
				t.Fatal(err)
			}
			wantProblem(t, resp, tt.status, tt.code, tt.field)
		})
	}
}

func TestTheLargestPayloadIsAccepted(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.endpoint("a", nil)
	payload := `"` + strings.Repeat("x", 256<<10-2) + `"`
	accepted := b.post("order.created", payload)
	if got := b.arrivals("a", 1)[0]; string(got.Body) != payload {
		t.Errorf("body has %d bytes; want %d, the same", len(got.Body), len(payload))
	}
	b.await(b.one(accepted), "delivered")
}

func TestWithoutAKeyNothingIsAnswered(t *testing.T) {
	t.Parallel()

	b := setup(t)
	anonymous := *world.api
	anonymous.Key = ""
	resp, err := anonymous.Do(b.ctx, http.MethodGet, "/v1/tenants/"+b.tenant+"/endpoints", nil)
	if err != nil {
		t.Fatal(err)
	}
	// API Gateway itself answers a request without an Authorization header.
	if resp.Status != http.StatusUnauthorized {
		t.Errorf("without a key: status %d %s; want 401", resp.Status, resp.Body)
	}

	stranger := *world.api
	stranger.Key = "shk_0123456789abcdefghjkmnpqrstvwxyz0123456789"
	resp, err = stranger.Do(b.ctx, http.MethodGet, "/v1/tenants/"+b.tenant+"/endpoints", nil)
	if err != nil {
		t.Fatal(err)
	}
	// The authorizer refuses the key, and API Gateway answers.
	if resp.Status != http.StatusForbidden {
		t.Errorf("with an unknown key: status %d %s; want 403", resp.Status, resp.Body)
	}
}

// wantProblem checks a problem document, RFC 9457.
func wantProblem(t *testing.T, resp stack.Response, status int, code, field string) {
	t.Helper()
	var problem struct {
		Status int    `json:"status"`
		Title  string `json:"title"`
		Code   string `json:"code"`
		Errors []struct {
			Field   string `json:"field"`
			Message string `json:"message"`
		} `json:"errors"`
	}
	if err := json.Unmarshal(resp.Body, &problem); err != nil {
		t.Fatalf("status %d, body %q: %v; want a problem document", resp.Status, resp.Body, err)
	}
	if resp.Status != status || problem.Status != status || problem.Code != code || problem.Title == "" {
		t.Errorf("problem = %d %s; want status %d, code %s", resp.Status, resp.Body, status, code)
	}
	if got := resp.Header.Get("Content-Type"); !strings.HasPrefix(got, "application/problem+json") {
		t.Errorf("content type = %q; want application/problem+json", got)
	}
	if field != "" && (len(problem.Errors) == 0 || problem.Errors[0].Field != field) {
		t.Errorf("errors = %+v; want one about %s", problem.Errors, field)
	}
}
