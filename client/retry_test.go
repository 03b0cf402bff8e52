package client_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"surehook/client"
	"surehook/client/openapi"
)

// answers is a server that gives one answer after the other, and keeps the bodies.
func answers(t *testing.T, statuses ...int) (c *client.Client, bodies *[]string) {
	t.Helper()

	bodies = new([]string)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*bodies = append(*bodies, string(body))
		status := statuses[min(len(*bodies), len(statuses))-1]
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		text := `{"message":"Slow Down"}`
		if status < http.StatusBadRequest {
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

func TestPost_RepeatsWithOneKey(t *testing.T) {
	t.Parallel()

	c, bodies := answers(t, 503, 500, 429, 202)
	if _, err := c.Post(t.Context(), "acme", openapi.EventRequest{EventType: "a", Payload: []byte(`1`)}); err != nil {
		t.Fatal(err)
	}
	if len(*bodies) != 4 || !strings.Contains((*bodies)[0], `"idempotency_key":"`) || (*bodies)[3] != (*bodies)[0] {
		t.Errorf("posts = %q; want 4 equal ones with a key", *bodies)
	}
}

func TestClient_RepeatsOnlyWhatMayBe(t *testing.T) {
	t.Parallel()

	create := func(c *client.Client) error {
		_, err := c.CreateEndpointWithResponse(t.Context(), "acme", openapi.EndpointCreate{Url: "https://example.com"})
		return err
	}
	read := func(c *client.Client) error {
		_, err := c.GetEventWithResponse(t.Context(), "acme", "evt_1")
		return err
	}
	raw := func(c *client.Client) error {
		_, err := c.PostEventWithResponse(t.Context(), "acme", nil, openapi.EventRequest{EventType: "a", Payload: []byte(`1`)})
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
		{name: "an event without key is not", call: raw, status: 500, want: 1},
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
