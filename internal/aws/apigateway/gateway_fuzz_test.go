package apigateway_test

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"surehook.example/surehook/internal/aws/apigateway"
	"surehook.example/surehook/internal/httpapi"
)

// FuzzHandle passes JSON of events, valid or not, to the adapter. The handler must see the
// event's body, path and query, and a principal only if the authorizer context is complete. The
// answer must pass unchanged.
func FuzzHandle(f *testing.F) {
	for _, seed := range []string{
		`{"rawPath":"/v1/x","rawQueryString":"a=b","headers":{"content-type":"application/json"},"body":"{}","requestContext":{"http":{"method":"POST","sourceIp":"192.0.2.1"}}}`,
		`{"rawPath":"/v1/x","body":"e30=","isBase64Encoded":true,"requestContext":{"http":{"method":"PATCH"}}}`,
		`{"rawPath":"/v1/x","requestContext":{"http":{"method":"GET"},"authorizer":{"lambda":{"key_id":"key_1","tenant":"acme","scopes":"read,replay"}}}}`,
		`{"rawPath":"/v1/x","requestContext":{"http":{"method":"GET"},"authorizer":{"lambda":{"key_id":1,"tenant":["*"],"scopes":{}}}}}`,
		`{"rawPath":"/v1/x","requestContext":{"http":{"method":"GET"},"authorizer":{"lambda":null}}}`,
		`{"rawPath":"/v1/100%zz/../\u0000","rawQueryString":"%zz&;","requestContext":{"http":{"method":"GET"}}}`,
		`{"rawPath":"","headers":{"bad name":"a\r\nb: c","":""},"requestContext":{"http":{"method":"BAD METHOD"}}}`,
		`{"body":"%","isBase64Encoded":true}`,
		`{}`,
		`null`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var e events.APIGatewayV2HTTPRequest
		if json.Unmarshal(raw, &e) != nil {
			return
		}
		called := false
		response, err := apigateway.Handle(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			called = true
			body, err := io.ReadAll(r.Body)
			want := []byte(e.Body)
			if e.IsBase64Encoded {
				want, _ = base64.StdEncoding.DecodeString(e.Body)
			}
			if err != nil || string(body) != string(want) || r.URL.Path != e.RawPath || r.URL.RawQuery != e.RawQueryString {
				t.Errorf("handler sees %q?%q %q, %v; want %q?%q %q", r.URL.Path, r.URL.RawQuery, body, err, e.RawPath, e.RawQueryString, want)
			}
			if p, ok := httpapi.PrincipalFrom(r.Context()); ok {
				authorizer := e.RequestContext.Authorizer
				if authorizer == nil || p.Key == "" || p.Tenant == "" || authorizer.Lambda["key_id"] != string(p.Key) || authorizer.Lambda["tenant"] != string(p.Tenant) {
					t.Errorf("principal %+v; authorizer context %+v", p, authorizer)
				}
			}
			w.WriteHeader(http.StatusTeapot)
			_, _ = w.Write(body)
		}))(t.Context(), e)
		if called != (err == nil) {
			t.Fatalf("handle(%s) = %v; handler called: %t", raw, err, called)
		}
		if err == nil && response.StatusCode != http.StatusTeapot {
			t.Errorf("handle(%s) = %+v; want the answer of the handler", raw, response)
		}
	})
}
