package apigateway_test

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"surehook.example/surehook/internal/aws/apigateway"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
)

func event(t *testing.T, change func(e *events.APIGatewayV2HTTPRequest)) events.APIGatewayV2HTTPRequest {
	t.Helper()

	e := events.APIGatewayV2HTTPRequest{RawPath: "/v1/x", Headers: map[string]string{"content-type": "application/json"}}
	e.RequestContext.HTTP.Method = http.MethodPost
	if change != nil {
		change(&e)
	}
	return e
}

func TestHandle_PassesTheRequest(t *testing.T) {
	t.Parallel()

	body := "{\"a\": \"\u00e9 \x00\"}"
	tests := []struct {
		name   string
		change func(e *events.APIGatewayV2HTTPRequest)
		path   string
		query  string
		body   string
	}{
		{name: "a plain body", change: func(e *events.APIGatewayV2HTTPRequest) { e.Body = body }, path: "/v1/x", query: "", body: body},
		{name: "an encoded body", change: func(e *events.APIGatewayV2HTTPRequest) {
			e.Body, e.IsBase64Encoded = base64.StdEncoding.EncodeToString([]byte(body)), true
		}, path: "/v1/x", query: "", body: body},
		{name: "a stray percent sign in the path", change: func(e *events.APIGatewayV2HTTPRequest) { e.RawPath = "/v1/100%zz" }, path: "/v1/100%zz", query: "", body: ""},
		{name: "a query", change: func(e *events.APIGatewayV2HTTPRequest) { e.RawQueryString = "state=dead&limit=2" }, path: "/v1/x", query: "dead", body: ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			var path, query, got, contentType string
			handle := apigateway.Handle(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				path, query, got, contentType = r.URL.Path, r.URL.Query().Get("state"), string(b), r.Header.Get("Content-Type")
				w.Header().Set("X-Answer", "yes")
				w.WriteHeader(http.StatusAccepted)
				_, _ = io.WriteString(w, "done")
			}))
			response, err := handle(t.Context(), event(t, tt.change))
			if err != nil {
				t.Fatalf("handle() = %v", err)
			}
			if path != tt.path || query != tt.query || got != tt.body || contentType != "application/json" {
				t.Errorf("handler saw path %q, state %q, body %q, type %q; want %q, %q, %q and application/json", path, query, got, contentType, tt.path, tt.query, tt.body)
			}
			if response.StatusCode != http.StatusAccepted || response.Body != "done" || response.Headers["X-Answer"] != "yes" ||
				response.Headers["Strict-Transport-Security"] != "max-age=31536000" {
				t.Errorf("response = %+v", response)
			}
		})
	}
}

// TestHandle_encodesBinaryAnswers checks that a compressed answer, and a font, pass through
// the JSON between Lambda and API Gateway.
func TestHandle_encodesBinaryAnswers(t *testing.T) {
	t.Parallel()

	const body = "\x1f\x8b\x00\xff"
	for name, tt := range map[string]struct {
		header, value string
		encoded       bool
	}{
		"compressed": {"Content-Encoding", "br", true}, "a font": {"Content-Type", "font/woff2", true}, "text": {"Content-Type", "text/html", false},
	} {
		response, err := apigateway.Handle(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(tt.header, tt.value)
			_, _ = io.WriteString(w, body)
		}))(t.Context(), event(t, nil))
		if err != nil {
			t.Fatal(err)
		}
		got := response.Body
		if response.IsBase64Encoded {
			raw, err := base64.StdEncoding.DecodeString(got)
			if err != nil {
				t.Fatal(err)
			}
			got = string(raw)
		}
		if got != body || response.IsBase64Encoded != tt.encoded {
			t.Errorf("%s: the answer is %q, encoded: %t; want %q, encoded: %t", name, got, response.IsBase64Encoded, body, tt.encoded)
		}
	}
}

// The handler sees the address of the connection, whatever the headers say.
func TestHandle_PassesTheSourceAddress(t *testing.T) {
	t.Parallel()

	var got string
	handle := apigateway.Handle(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.RemoteAddr }))
	e := event(t, func(e *events.APIGatewayV2HTTPRequest) {
		e.RequestContext.HTTP.SourceIP = "198.51.100.7"
		for _, name := range []string{"x-forwarded-for", "forwarded", "x-real-ip"} {
			e.Headers[name] = "192.0.2.1"
		}
	})
	if _, err := handle(t.Context(), e); err != nil || got != "198.51.100.7" {
		t.Errorf("handler saw %s, %v; want 198.51.100.7", got, err)
	}
}

func TestHandle_RejectsInvalidBase64(t *testing.T) {
	t.Parallel()

	handle := apigateway.Handle(http.NotFoundHandler())
	if _, err := handle(t.Context(), event(t, func(e *events.APIGatewayV2HTTPRequest) { e.Body, e.IsBase64Encoded = "%", true })); err == nil {
		t.Error("handle() = nil; want an error")
	}
}

func TestHandle_PassesTheAuthorizersPrincipal(t *testing.T) {
	t.Parallel()

	want := hook.Principal{Key: "key_1", Name: "support desk, Zürich", Tenant: "acme", Scopes: []hook.Scope{hook.ScopeRead, hook.ScopeReplay}}
	bound := want
	bound.Restriction = hook.Restriction{
		ExpiresAt: time.UnixMilli(1_800_000_000_123).UTC(),
		Networks:  []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/32")},
	}
	broken := func(name, value string) map[string]any {
		c := apigateway.Authorizer(bound)
		c[name] = value
		return c
	}
	tests := []struct {
		name    string
		context map[string]any
		want    hook.Principal
		ok      bool
	}{
		{name: "a known key", context: apigateway.Authorizer(want), want: want, ok: true},
		{name: "a restricted key", context: apigateway.Authorizer(bound), want: bound, ok: true},
		{name: "an unreadable expiry", context: broken("expires_at", "soon"), want: hook.Principal{}, ok: false},
		{name: "an unreadable network", context: broken("networks", "192.0.2.0/24,home"), want: hook.Principal{}, ok: false},
		{name: "an unknown key", context: nil, want: hook.Principal{}, ok: false},
		{name: "a context without a tenant", context: map[string]any{"key_id": "key_1", "scopes": "admin"}, want: hook.Principal{}, ok: false},
		{name: "a context of other types", context: map[string]any{"key_id": 1, "tenant": true}, want: hook.Principal{}, ok: false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			var (
				got hook.Principal
				ok  bool
			)
			handle := apigateway.Handle(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				got, ok = httpapi.PrincipalFrom(r.Context())
			}))
			e := event(t, func(e *events.APIGatewayV2HTTPRequest) {
				e.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{Lambda: roundTrip(t, tt.context)}
			})
			if _, err := handle(t.Context(), e); err != nil {
				t.Fatalf("handle() = %v", err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateComparable(netip.Prefix{})); diff != "" || ok != tt.ok {
				t.Errorf("principal = %v, %t; want %v, %t", got, ok, tt.want, tt.ok)
			}
		})
	}
}

// roundTrip encodes and decodes the context as JSON, like API Gateway.
func roundTrip(t *testing.T, in map[string]any) map[string]any {
	t.Helper()

	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
