package client_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/client"
	"surehook.example/surehook/client/openapi"
)

// answers is a server that answers with one status after the other, and keeps the bodies of the
// requests.
func answers(t *testing.T, statuses ...int) (c *client.Client, bodies *[]string) {
	t.Helper()

	bodies = new([]string) // with the idempotency key of the header
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*bodies = append(*bodies, r.Header.Get("Idempotency-Key")+string(body))
		status := statuses[min(len(*bodies), len(statuses))-1]
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		text := `{"message":"Slow Down"}`
		if status/100 == 2 {
			text = `{"id":"evt_1","deliveries":1,"duplicate":false}`
		}
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	c, err := client.New(s.URL, "shk_x", client.Options{Wait: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	return c, bodies
}

func TestEvents_RepeatsWithOneKey(t *testing.T) {
	t.Parallel()

	c, bodies := answers(t, 503, 500, 429, 202)
	if _, err := c.Events.Create(t.Context(), "acme", openapi.EventRequest{EventType: "a", Payload: []byte(`1`)}); err != nil {
		t.Fatal(err)
	}
	if len(*bodies) != 4 || strings.HasPrefix((*bodies)[0], "{") || (*bodies)[3] != (*bodies)[0] {
		t.Errorf("posts = %q; want 4 equal ones with a key", *bodies)
	}
}

func TestEvents_KeepsTheKeyOfTheCaller(t *testing.T) {
	t.Parallel()

	c, bodies := answers(t, 503, 202)
	if _, err := c.Events.Create(t.Context(), "acme", openapi.EventRequest{EventType: "a", Payload: []byte(`1`), IdempotencyKey: "mine"}); err != nil {
		t.Fatal(err)
	}
	want := `{"event_type":"a","idempotency_key":"mine","payload":1}`
	if diff := cmp.Diff([]string{want, want}, *bodies); diff != "" {
		t.Error(diff)
	}
}

func TestEvents_GivesEachOfABatchAKey(t *testing.T) {
	t.Parallel()

	c, bodies := answers(t, 503, 202)
	_, err := c.Events.CreateBatch(t.Context(), "acme", openapi.BatchRequest{Events: []openapi.BatchEvent{
		{EventType: "a", Payload: []byte(`1.0`)}, {EventType: "b", IdempotencyKey: "mine"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	form := regexp.MustCompile(`^\{"events":\[\{"event_type":"a","idempotency_key":"[A-Z2-7]{26}","payload":1\.0\},\{"event_type":"b","idempotency_key":"mine"`)
	if len(*bodies) != 2 || !form.MatchString((*bodies)[0]) || (*bodies)[1] != (*bodies)[0] {
		t.Errorf("posts = %q; want 2 equal ones with keys", *bodies)
	}
}

func TestClient_RepeatsOnlyWhatMayBe(t *testing.T) {
	t.Parallel()

	create := func(c *client.Client) error {
		_, err := c.Endpoints.Create(t.Context(), "acme", openapi.EndpointCreate{Url: "https://example.com"})
		return err
	}
	read := func(c *client.Client) error {
		_, err := c.Events.Get(t.Context(), "acme", "evt_1")
		return err
	}
	raw := func(c *client.Client) error {
		_, err := c.Call(t.Context(), client.Call{Method: http.MethodPost, Path: "/v1/tenants/acme/events", Body: []byte(`{"event_type": "a", "payload": 1}`)})
		return err
	}
	preview := func(c *client.Client) error {
		_, err := c.Replays.Preview(t.Context(), "acme", openapi.ReplayStart{})
		return err
	}
	replay := func(c *client.Client) error {
		_, err := c.Replays.Create(t.Context(), "acme", openapi.ReplayStart{DryRun: true})
		return err
	}
	tests := []struct {
		name   string
		call   func(*client.Client) error
		status int
		want   int
	}{
		{name: "a creation is not repeated", call: create, status: 503, want: 1},
		{name: "a throttled creation is repeated", call: create, status: 429, want: 5},
		{name: "a read is repeated", call: read, status: 503, want: 5},
		{name: "a wrong read is not", call: read, status: 400, want: 1},
		{name: "an event is repeated", call: raw, status: 500, want: 5},
		{name: "a dry run is repeated", call: preview, status: 503, want: 5},
		{name: "a replay is not", call: replay, status: 503, want: 1},
		{name: "a redirect is a refusal", call: read, status: 307, want: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			c, bodies := answers(t, tt.status)
			err := tt.call(c)
			p, ok := errors.AsType[*client.Problem](err)
			if !ok || p.Status != tt.status || p.Code != "" || p.Detail != "Slow Down" {
				t.Errorf("err = %v; want the problem of API Gateway", err)
			}
			if len(*bodies) != tt.want {
				t.Errorf("%d requests; want %d", len(*bodies), tt.want)
			}
		})
	}
}

// TestClient_HonoursRetryAfter waits only in virtual time.
func TestClient_HonoursRetryAfter(t *testing.T) {
	t.Parallel()

	for header, want := range map[string]time.Duration{"7": 7 * time.Second, "3600": 30 * time.Second, "soon": 0, "-1": 0} {
		synctest.Test(t, func(t *testing.T) {
			var tries []time.Time
			transport := roundTrip(func(*http.Request) (*http.Response, error) {
				tries = append(tries, time.Now())
				w := httptest.NewRecorder()
				w.Header().Set("Retry-After", header)
				w.WriteHeader(http.StatusServiceUnavailable)
				return w.Result(), nil
			})
			c, err := client.New("http://127.0.0.1:1", "shk_x", client.Options{HTTP: &http.Client{Transport: transport}, Attempts: 2, Wait: time.Nanosecond})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Events.Get(t.Context(), "acme", "evt_1"); err == nil || len(tries) != 2 {
				t.Fatalf("%d tries, %v; want 2 and the problem", len(tries), err)
			}
			if got := tries[1].Sub(tries[0]).Round(time.Millisecond); got != want {
				t.Errorf("Retry-After: %s waits %s; want %s", header, got, want)
			}
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
