package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"surehook.example/surehook/api"
	"surehook.example/surehook/internal/hook"
)

// contract is the document of the API, loaded for checking requests and responses.
//
// kin-openapi does not check the bodies, because it compiles a schema for each body and reads
// references by the rules of OpenAPI 3.0.
type contract struct {
	doc     *openapi3.T
	router  routers.Router
	schemas map[string]*jsonschema.Schema // by reference
}

// theContract is the document with closed object schemas: clients must accept new fields, but the
// tests must not.
var theContract = sync.OnceValues(func() (contract, error) {
	doc, err := load()
	if err != nil {
		return contract{}, err
	}
	for _, s := range doc.Components.Schemas {
		if len(s.Value.Properties) > 0 {
			s.Value.AdditionalProperties.Has = new(bool)
		}
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return contract{}, fmt.Errorf("route the document: %w", err)
	}
	schemas, err := compile(doc)
	return contract{doc, router, schemas}, err
})

// compile returns the schemas of the document by their references.
func compile(doc *openapi3.T) (map[string]*jsonschema.Schema, error) {
	raw, err := doc.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("write the document: %w", err)
	}
	resource, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("openapi.json", resource); err != nil {
		return nil, fmt.Errorf("add the document: %w", err)
	}
	schemas := make(map[string]*jsonschema.Schema)
	for name := range doc.Components.Schemas {
		ref := "#/components/schemas/" + name
		if schemas[ref], err = compiler.Compile("openapi.json" + ref); err != nil {
			return nil, fmt.Errorf("compile schema %s: %w", name, err)
		}
	}
	return schemas, nil
}

func load() (*openapi3.T, error) {
	raw, err := fs.ReadFile(api.Files, "openapi.yaml")
	if err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		return nil, fmt.Errorf("load the document: %w", err)
	}
	return doc, nil
}

// hold checks a request and the response against the contract: the document must
// describe every response, and must allow every accepted request.
func hold(tb testing.TB, r *http.Request, body string, w *httptest.ResponseRecorder) {
	tb.Helper()

	c, err := theContract()
	if err != nil {
		tb.Fatalf("contract: %v", err)
	}
	if err := c.check(tb.Context(), r, body, w); err != nil {
		tb.Errorf("contract: %s %s with %.500s = %d %.500s: %v", r.Method, r.URL, body, w.Code, w.Body, err)
	}
}

func (c contract) check(ctx context.Context, r *http.Request, body string, w *httptest.ResponseRecorder) error {
	route, params, err := c.router.FindRoute(r)
	switch {
	case errors.Is(err, routers.ErrPathNotFound):
		route = c.elsewhere(http.StatusNotFound, "NotFound")
	case errors.Is(err, routers.ErrMethodNotAllowed):
		route = c.elsewhere(http.StatusMethodNotAllowed, "MethodNotAllowed")
	case err != nil:
		return fmt.Errorf("find operation: %w", err)
	}
	for name, value := range params { // the router leaves them escaped
		if params[name], err = url.PathUnescape(value); err != nil {
			return fmt.Errorf("unescape %s: %w", name, err)
		}
	}
	r = r.Clone(ctx)
	r.Body = io.NopCloser(strings.NewReader(body))
	if body != "" && r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", "application/json") // a missing header means the same
	}
	in := &openapi3filter.RequestValidationInput{
		Request: r, PathParams: params, Route: route,
		Options: &openapi3filter.Options{
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, SkipSettingDefaults: true, ExcludeRequestBody: true,
		},
	}
	if w.Code < 300 {
		if err := openapi3filter.ValidateRequest(ctx, in); err != nil {
			return fmt.Errorf("accepted, against the document: %w", err)
		}
		if err := c.checkRequestBody(route.Operation.RequestBody, r.Header, body); err != nil {
			return fmt.Errorf("accepted, against the document: %w", err)
		}
	}
	return c.checkAnswer(ctx, in, w)
}

func (c contract) checkRequestBody(documented *openapi3.RequestBodyRef, header http.Header, body string) error {
	switch {
	case documented == nil: // the body is not read
		return nil
	case body == "" && documented.Value.Required:
		return errors.New("the body is missing")
	case body == "":
		return nil
	}
	return c.checkBody(documented.Value.Content, header, []byte(body))
}

// checkBody checks a body against the schema of its media type.
func (c contract) checkBody(content openapi3.Content, header http.Header, body []byte) error {
	media := content.Get(header.Get("Content-Type"))
	if media == nil {
		return fmt.Errorf("the content type %q is not documented", header.Get("Content-Type"))
	}
	if media.Schema == nil {
		return nil
	}
	s, ok := c.schemas[media.Schema.Ref]
	if !ok {
		return fmt.Errorf("the schema %q is not one of the document's components", media.Schema.Ref)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("the body: %w", err)
	}
	if err := s.Validate(value); err != nil {
		return fmt.Errorf("the body: %w", err)
	}
	return nil
}

func (c contract) checkAnswer(ctx context.Context, in *openapi3filter.RequestValidationInput, w *httptest.ResponseRecorder) error {
	out := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: w.Code, Header: w.Header(),
		Options: &openapi3filter.Options{IncludeResponseStatus: true, ExcludeResponseBody: true},
	}
	if err := openapi3filter.ValidateResponse(ctx, out.SetBodyBytes(w.Body.Bytes())); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	documented := in.Route.Operation.Responses.Status(w.Code).Value
	if len(documented.Content) == 0 {
		if w.Body.Len() > 0 {
			return errors.New("the answer has a body, and none is documented")
		}
	} else if err := c.checkBody(documented.Content, w.Header(), w.Body.Bytes()); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	if err := checkHeaders(documented, w.Header()); err != nil {
		return err
	}
	if w.Code < 400 {
		return nil
	}
	// application/json is the type of API Gateway's own errors.
	if got := w.Header().Get("Content-Type"); got != "application/problem+json" {
		return fmt.Errorf("the content type of an error is %q", got)
	}
	var p struct {
		Status int `json:"status"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Status != w.Code {
		return fmt.Errorf("the problem says the status is %d, %w", p.Status, err)
	}
	return nil
}

// checkHeaders checks that the response has the documented headers, and no others except those of
// every response.
func checkHeaders(documented *openapi3.Response, got http.Header) error {
	everywhere := []string{"Content-Type", "Cache-Control", "X-Content-Type-Options"}
	if got.Get("Cache-Control") == "" || got.Get("X-Content-Type-Options") != "nosniff" {
		return fmt.Errorf("the answer has the headers %v; want those of every answer", got)
	}
	known := make(map[string]bool)
	for name := range documented.Headers {
		if known[http.CanonicalHeaderKey(name)] = true; got.Get(name) == "" {
			return fmt.Errorf("the answer lacks the header %s", name)
		}
	}
	for name := range got {
		if !known[name] && !slices.Contains(everywhere, name) {
			return fmt.Errorf("the answer has the header %s, which is not documented", name)
		}
	}
	return nil
}

// elsewhere returns the documented response to a request for which there is no operation.
func (c contract) elsewhere(status int, response string) *routers.Route {
	return &routers.Route{Spec: c.doc, PathItem: &openapi3.PathItem{}, Operation: &openapi3.Operation{
		Responses: openapi3.NewResponses(openapi3.WithStatus(status, c.doc.Components.Responses[response])),
	}}
}

// TestContract_breaches checks that the checks can fail.
func TestContract_breaches(t *testing.T) {
	t.Parallel()

	c, err := theContract()
	if err != nil {
		t.Fatal(err)
	}
	id := string(hook.NewEndpointID())
	accepted := fmt.Sprintf(`{"id":%q,"deliveries":1,"duplicate":false}`, hook.KeyedEventID("acme", "k"))
	missing := plain(404, "not_found", "no such endpoint")
	const event, noHeader = `{"event_type":"a","payload":1}`, ""
	tests := []struct {
		name, method, target, body string
		status                     int
		answer, header             string // "Name: value"
		breach                     bool
	}{
		{name: "none", method: "POST", target: eventsURL, body: event, status: 202, answer: accepted, header: noHeader, breach: false},
		{name: "none in an error", method: "GET", target: endpoints + "/" + id, body: "", status: 404, answer: missing, header: noHeader, breach: false},
		{name: "none elsewhere", method: "GET", target: "/v2", body: "", status: 404, answer: missing, header: noHeader, breach: false},
		{name: "a field too many is accepted", method: "POST", target: eventsURL, body: `{"event_type":"a","payload":1,"x":1}`, status: 202, answer: accepted, header: noHeader, breach: true},
		{name: "a field too few is accepted", method: "POST", target: eventsURL, body: `{"event_type":"a"}`, status: 202, answer: accepted, header: noHeader, breach: true},
		{name: "a bad type is accepted", method: "POST", target: eventsURL, body: `{"event_type":"a b","payload":1}`, status: 202, answer: accepted, header: noHeader, breach: true},
		{name: "a bad parameter is accepted", method: "GET", target: endpoints + "?limit=101", body: "", status: 200, answer: `{"data":[],"next_cursor":null}`, header: noHeader, breach: true},
		{name: "the answer has a field too many", method: "POST", target: eventsURL, body: event, status: 202, answer: strings.TrimSuffix(accepted, "}") + `,"x":1}`, header: noHeader, breach: true},
		{name: "the answer has a field too few", method: "POST", target: eventsURL, body: event, status: 202, answer: `{"deliveries":1,"duplicate":false}`, header: noHeader, breach: true},
		{name: "the answer is no JSON", method: "POST", target: eventsURL, body: event, status: 202, answer: "hello", header: noHeader, breach: true},
		{name: "the status is unknown", method: "POST", target: eventsURL, body: event, status: 200, answer: accepted, header: noHeader, breach: true},
		{name: "the status is another", method: "GET", target: endpoints + "/" + id, body: "", status: 404, answer: plain(403, "not_found", "no such endpoint"), header: noHeader, breach: true},
		{name: "the code is unknown", method: "GET", target: endpoints + "/" + id, body: "", status: 404, answer: plain(404, "gone", "no such endpoint"), header: noHeader, breach: true},
		{name: "the error is no problem document", method: "GET", target: "/v1/keys", body: "", status: 500, answer: `{"message":"no"}`, header: "Content-Type: application/json", breach: true},
		{name: "a header is unknown", method: "POST", target: eventsURL, body: event, status: 202, answer: accepted, header: "X-Powered-By: Go", breach: true},
		{name: "a header is missing", method: "GET", target: "/v1/keys", body: "", status: 401, answer: plain(401, "unauthorized", "who?"), header: noHeader, breach: true},
		{name: "a header is wrong", method: "GET", target: "/v1/keys", body: "", status: 401, answer: plain(401, "unauthorized", "who?"), header: "WWW-Authenticate: Basic", breach: true},
		{name: "a body is too many", method: "DELETE", target: endpoints + "/" + id, body: "", status: 204, answer: `{}`, header: noHeader, breach: true},
		{name: "a path elsewhere is served", method: "GET", target: "/v2", body: "", status: 200, answer: `{}`, header: noHeader, breach: true},
		{name: "a method elsewhere is not found", method: "PUT", target: endpoints, body: "", status: 404, answer: missing, header: noHeader, breach: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := httptest.NewRecorder()
			w.Header().Set("Cache-Control", "no-store")
			w.Header().Set("X-Content-Type-Options", "nosniff")
			w.Header().Set("Content-Type", "application/json")
			if tt.status >= 400 {
				w.Header().Set("Content-Type", "application/problem+json")
			}
			if name, value, ok := strings.Cut(tt.header, ": "); ok {
				w.Header().Set(name, value)
			}
			w.WriteHeader(tt.status)
			_, _ = w.WriteString(tt.answer)
			r := httptest.NewRequestWithContext(t.Context(), tt.method, tt.target, nil)
			if err := c.check(t.Context(), r, tt.body, w); (err != nil) != tt.breach {
				t.Errorf("check = %v; want a breach: %t", err, tt.breach)
			}
		})
	}
}
