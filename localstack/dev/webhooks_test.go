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

	"surehook.example/surehook/api"
	"surehook.example/surehook/localstack/webhook"
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

// received returns the schema of what a receiver gets.
func received(doc *openapi3.T, webhook string) *openapi3.Schema {
	return doc.Webhooks[webhook].Post.RequestBody.Value.Content["application/json"].Schema.Value
}

// TestWebhooks_headers checks that requests with the profiles standard and classic have exactly the
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
	w.subscribe(fmt.Sprintf(`{"url":"%s/classic","signature_profiles":["classic"]}`, url))
	w.post()
	ofHTTP := []string{"Accept-Encoding", "Content-Length", "Content-Type"}
	for range 2 {
		r := <-requests
		var want []string
		for name, p := range documented {
			if !strings.Contains(p.Description, " Profile ") || strings.HasSuffix(p.Description, " Profile "+r.path[1:]+".") {
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

	schema := received(contractDocument(t), "operationalEvent")
	w := newWorld(t)
	url, requests := sink(t)
	w.subscribe(fmt.Sprintf(`{"url":"%s/gone"}`, url))
	w.subscribe(fmt.Sprintf(`{"url":"%s/operator","event_types":["webhook.*"],"envelope":"raw"}`, url))
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

// TestWebhooks_batch checks the request of a coalescing endpoint against the document, as a
// receiver reads it, and the batch in the attempts of both its events.
func TestWebhooks_batch(t *testing.T) {
	t.Parallel()

	doc := contractDocument(t)
	w := newWorld(t)
	url, requests := sink(t)
	w.subscribe(fmt.Sprintf(`{"url":"%s/batch","coalesce":{"window":"1s"}}`, url))
	var posted struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	const payloads = `{"event_type":"order.paid","payload":{ "k":1, "v":"<a>" }},{"event_type":"order.paid","payload":{"k":2}}`
	w.call(http.MethodPost, "/v1/tenants/acme/events/batch", `{"events":[`+payloads+`]}`, http.StatusAccepted, &posted)

	var events []webhook.Event
	for len(events) < 2 { // the batch of events may span the end of a window
		r := <-requests
		for _, p := range doc.Webhooks["batch"].Post.Parameters {
			value := r.header.Get(p.Value.Name)
			if pattern := p.Value.Schema.Value.Pattern; pattern != "" && !regexp.MustCompile(pattern).MatchString(value) {
				t.Errorf("%s = %q; want the form %s", p.Value.Name, value, pattern)
			}
		}
		if got := r.header.Get("X-Webhook-Event"); got != webhook.BatchType || r.header.Get("Traceparent") != "" {
			t.Errorf("X-Webhook-Event = %s, Traceparent = %q; want %s and none", got, r.header.Get("Traceparent"), webhook.BatchType)
		}
		var body any
		if err := json.Unmarshal(r.body, &body); err != nil {
			t.Fatal(err)
		}
		if err := received(doc, "batch").VisitJSON(body); err != nil {
			t.Errorf("the body %s: %v", r.body, err)
		}
		more, err := webhook.Events(r.body)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, more...)
	}
	if got := string(events[0].Payload) + string(events[1].Payload); got != `{ "k":1, "v":"<a>" }{"k":2}` && got != `{"k":2}{ "k":1, "v":"<a>" }` {
		t.Errorf("payloads = %s; want the posted bytes", got)
	}
	for _, event := range posted.Data {
		w.await(event.ID, "delivered")
		var attempts struct {
			Data []struct {
				Batch struct {
					ID     string   `json:"id"`
					Size   int      `json:"size"`
					Events []string `json:"events"`
				} `json:"batch"`
			} `json:"data"`
		}
		w.call(http.MethodGet, "/v1/tenants/acme/events/"+event.ID+"/attempts", "", http.StatusOK, &attempts)
		if len(attempts.Data) != 1 {
			t.Fatalf("attempts of %s = %v", event.ID, attempts)
		}
		if b := attempts.Data[0].Batch; !strings.HasPrefix(b.ID, "bat_") || len(b.Events) > b.Size || len(b.Events) > 0 && !slices.Contains(b.Events, event.ID) {
			t.Errorf("the batch of %s = %+v", event.ID, b)
		}
	}
}
