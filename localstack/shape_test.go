//go:build e2e

package localstack_test

import (
	"net/http"
	"strings"
	"testing"

	"surehook.example/surehook/localstack/receiver"
)

// TestEnvelopes checks the bodies of endpoints with each envelope, and of an endpoint that
// names none.
func TestEnvelopes(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.endpoint("raw", nil)
	b.endpoint("thin", map[string]any{"envelope": "thin"})
	in := map[string]any{"url": world.receiver.URL + b.path("default")}
	e, err := world.api.CreateEndpoint(b.ctx, b.tenant, in)
	if err != nil {
		t.Fatal(err)
	}
	world.receiver.Trust(b.path("default"), e.Secret)

	const payload = `{ "n" : 1.0 }`
	accepted := b.post("order.paid", payload)
	for name, want := range map[string][2]string{
		"raw":     {payload, payload},
		"thin":    {`{"type":"order.paid","timestamp":"`, `,"id":"` + accepted.ID + `"}`},
		"default": {`{"type":"order.paid","timestamp":"`, `,"data":` + payload + `}`},
	} {
		r := b.arrivals(name, 1)[0]
		if body := string(r.Body); !strings.HasPrefix(body, want[0]) || !strings.HasSuffix(body, want[1]) || !r.Genuine() {
			t.Errorf("%s gets %s, signature %v; want %s ... %s", name, body, r.Verified, want[0], want[1])
		}
	}
}

// TestProfilePair checks that an endpoint gets the headers of two profiles while its
// receiver moves from one to the other.
func TestProfilePair(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.endpoint("a", map[string]any{"signature_profiles": []string{"standard", "stripe"}})
	b.postOne()
	r := b.arrivals("a", 1)[0]
	if stripe := r.Header.Get("Stripe-Signature"); !r.Genuine() || !strings.HasPrefix(stripe, "t="+r.Header.Get("Webhook-Timestamp")+",v1=") {
		t.Errorf("signatures = %v, Stripe-Signature %q; want both", r.Verified, stripe)
	}
}

// TestTransformation checks an expression that cannot shape the events of today: they are
// dead without a request, and are delivered after a correction and a replay.
func TestTransformation(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e := b.endpoint("a", map[string]any{"transformation": `{"body": {"text": event.data.titel}}`}, receiver.Status(200))
	id := b.one(b.post("order.paid", `{"title": "Paid", "n": 9007199254740993}`))
	d := b.await(id, "dead")
	if d.Reason != "transformation" || d.Last.Class != "transformation" || !strings.Contains(d.Last.Error, "no such key: titel") {
		t.Fatalf("delivery = %+v; want it dead by its transformation", d)
	}
	var preview struct {
		Request struct {
			Body string `json:"body"`
		} `json:"request"`
	}
	correct := `{"body": {"text": event.data.title, "n": event.data.n}, "headers": {"X-Kind": event.type}, "content_type": "application/vnd.acme+json"}`
	event, _, _ := strings.Cut(strings.TrimPrefix(id, "dlv_"), "_")
	b.call(http.MethodPost, "/endpoints/"+e.ID+"/preview", map[string]any{"event_id": "evt_" + event, "transformation": correct}, http.StatusOK, &preview)
	b.call(http.MethodPatch, "/endpoints/"+e.ID, map[string]any{"transformation": correct}, http.StatusOK, nil)
	b.call(http.MethodPost, "/deliveries/"+id+"/replay", map[string]any{}, http.StatusAccepted, &struct{}{})

	const want = `{"n":9007199254740993,"text":"Paid"}`
	r := b.arrivals("a", 1)[0]
	if string(r.Body) != want || preview.Request.Body != want || !r.Genuine() || r.Header.Get("X-Kind") != "order.paid" || r.Header.Get("Content-Type") != "application/vnd.acme+json" {
		t.Errorf("the replay sends %s with %v, and the preview showed %s; want %s", r.Body, r.Header, preview.Request.Body, want)
	}
	var seen struct {
		Circuit struct {
			State    string `json:"state"`
			Failures int    `json:"failures"`
		} `json:"circuit_state"`
	}
	b.call(http.MethodGet, "/endpoints/"+e.ID, nil, http.StatusOK, &seen)
	if seen.Circuit.State != "closed" || seen.Circuit.Failures != 0 {
		t.Errorf("circuit = %+v; want it closed, without a failure", seen.Circuit)
	}
}
