package dev_test

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"surehook/api"
)

// arrived is a request to a receiver.
type arrived struct {
	path   string
	header http.Header
	body   []byte
}

// sink is a receiver of everything: 410 under /gone, 200 elsewhere.
func sink(t *testing.T) (url string, requests <-chan arrived) {
	t.Helper()

	all := make(chan arrived, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		all <- arrived{r.URL.Path, r.Header, body}
		if r.URL.Path == "/gone" {
			w.WriteHeader(http.StatusGone)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, all
}

func (w *world) subscribe(fields string) {
	w.t.Helper()
	w.call(http.MethodPost, "/v1/tenants/acme/endpoints", fields, http.StatusCreated, nil)
}

func contractDocument(t *testing.T) *openapi3.T {
	t.Helper()

	raw, err := fs.ReadFile(api.Files, "openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestWebhooks_headers checks that requests to both styles of endpoints have exactly the
// documented headers, and values of the documented forms.
func TestWebhooks_headers(t *testing.T) {
	t.Parallel()

	documented := make(map[string]*openapi3.Parameter)
	doc := contractDocument(t)
	for _, p := range doc.Webhooks["event"].Post.Parameters {
		documented[http.CanonicalHeaderKey(p.Value.Name)] = p.Value
	}
	w := newWorld(t)
	url, requests := sink(t)
	w.subscribe(fmt.Sprintf(`{"url":"%s/standard","signature_schemes":["v1","v1a"]}`, url))
	w.subscribe(fmt.Sprintf(`{"url":"%s/classic","signature_headers":"classic"}`, url))
	w.post()
	ofHTTP := []string{"Accept-Encoding", "Content-Length", "Content-Type"}
	for range 2 {
		r := <-requests
		var want []string
		for name, p := range documented {
			style := strings.HasSuffix(p.Description, strings.ToUpper(r.path[1:2])+r.path[2:]+" style.")
			if style || !strings.HasSuffix(p.Description, " style.") {
				want = append(want, name)
			}
		}
		got := slices.DeleteFunc(slices.Collect(maps.Keys(r.header)), func(name string) bool { return slices.Contains(ofHTTP, name) })
		slices.Sort(got)
		if slices.Sort(want); !cmp.Equal(got, want) {
			t.Errorf("headers of %s (-sent +documented):\n%s", r.path, cmp.Diff(got, want))
		}
		for _, name := range want {
			if pattern := documented[name].Schema.Value.Pattern; !regexp.MustCompile(pattern).MatchString(r.header.Get(name)) {
				t.Errorf("%s of %s = %q; want the form %s", name, r.path, r.header.Get(name), pattern)
			}
		}
	}
}

// TestWebhooks_operationalEvent checks the body of an operational event against the document.
func TestWebhooks_operationalEvent(t *testing.T) {
	t.Parallel()

	schema := contractDocument(t).Components.Schemas["OperationalEvent"].Value
	w := newWorld(t)
	url, requests := sink(t)
	w.subscribe(fmt.Sprintf(`{"url":"%s/gone"}`, url))
	w.subscribe(fmt.Sprintf(`{"url":"%s/operator","event_types":["surehook.*"]}`, url))
	w.post()
	seen := 0
	for seen < 2 { // the endpoint is disabled, and the delivery is dead
		r := <-requests
		if r.path != "/operator" {
			continue
		}
		seen++
		var body map[string]any
		if err := json.Unmarshal(r.body, &body); err != nil {
			t.Fatalf("body = %s: %v", r.body, err)
		}
		for name := range body {
			if schema.Properties[name] == nil {
				t.Errorf("%s has the field %s, which is not documented", r.body, name)
			}
		}
		for _, name := range schema.Required {
			if body[name] == nil {
				t.Errorf("%s lacks the field %s", r.body, name)
			}
		}
		if r.header.Get("X-Webhook-Event") != body["event_type"] {
			t.Errorf("X-Webhook-Event = %s; want the event_type of %s", r.header.Get("X-Webhook-Event"), r.body)
		}
	}
}
