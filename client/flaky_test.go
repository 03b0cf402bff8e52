package client_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"surehook.example/surehook/client"
	"surehook.example/surehook/client/openapi"
	"surehook.example/surehook/clients/flaky"
	"surehook.example/surehook/localstack/dev"
)

// TestFlaky posts and reads through an API where five of six requests fail: each event is there once.
func TestFlaky(t *testing.T) {
	t.Parallel()

	s, err := dev.Start(t.Context(), dev.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop(context.WithoutCancel(t.Context())) })
	api, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(flaky.New(api))
	t.Cleanup(front.Close)
	c, err := client.New(front.URL, s.Key, client.Options{HTTP: &http.Client{Timeout: 2 * time.Second}, Attempts: flaky.Faults + 1, Wait: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	want := make(map[string]int)
	one, err := c.Events.Create(t.Context(), "acme", openapi.EventRequest{EventType: "order.paid", Payload: []byte(`1`)})
	if err != nil {
		t.Fatal(err)
	}
	want[one.Id]++
	batch, err := c.Events.CreateBatch(t.Context(), "acme", openapi.BatchRequest{Events: []openapi.BatchEvent{{EventType: "a", Payload: []byte(`1`)}, {EventType: "b", Payload: []byte(`1`)}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range batch.Data {
		accepted, err := item.AsAccepted()
		if err != nil {
			t.Fatal(err)
		}
		want[accepted.Id]++
	}
	n := 0
	for e, err := range c.Events.List(t.Context(), "acme", openapi.ListEventsParams{Limit: client.Set(2)}) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; want[e.Id] != 1 {
			t.Errorf("event %s is there, and was accepted %d times", e.Id, want[e.Id])
		}
	}
	if n != 3 || len(want) != 3 {
		t.Errorf("%d events of %d; want 3", n, len(want))
	}
}
