package client_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/client"
	"surehook.example/surehook/client/openapi"
)

// TestFlow creates, posts and reads, and then changes one field: the others stay.
func TestFlow(t *testing.T) {
	t.Parallel()

	c, stop := surehook()
	t.Cleanup(stop)
	created, err := c.Endpoints.Create(t.Context(), "acme", openapi.EndpointCreate{
		Url: "http://127.0.0.1:9/", Timeout: "7s", RatePerSecond: 0.7, Headers: map[string]string{"X-A": "1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := c.Events.Create(t.Context(), "acme", openapi.EventRequest{EventType: "order.paid", Payload: []byte(`[1,2]`)})
	if err != nil || accepted.Deliveries != 1 {
		t.Fatalf("Create = %+v, %v; want 1 delivery", accepted, err)
	}
	event, err := c.Events.Get(t.Context(), "acme", accepted.Id)
	if err != nil || string(event.Payload) != `[1,2]` {
		t.Fatalf("GetEvent = %+v, %v; want the payload", event, err)
	}
	changed, err := c.Endpoints.Update(t.Context(), "acme", created.Id, openapi.EndpointFields{Description: client.Set("new")})
	if err != nil {
		t.Fatal(err)
	}
	read, err := c.Endpoints.Get(t.Context(), "acme", created.Id)
	if err != nil {
		t.Fatal(err)
	}
	before, after := *created, *read
	if after.Description != "new" || changed.Version != 2 {
		t.Errorf("ChangeEndpoint = %+v; want the new description as version 2", changed)
	}
	type settings struct {
		URL, Timeout, MaxAge, Headers, Rate, InFlight, Circuit, Retry, Types any
	}
	if diff := cmp.Diff(
		settings{before.Url, before.Timeout, before.MaxAge, fmt.Sprint(before.Headers), before.RatePerSecond, before.MaxInFlight, before.Circuit, before.Retry, before.EventTypes},
		settings{after.Url, after.Timeout, after.MaxAge, fmt.Sprint(after.Headers), after.RatePerSecond, after.MaxInFlight, after.Circuit, after.Retry, after.EventTypes},
	); diff != "" {
		t.Errorf("the other fields (-before +after):\n%s", diff)
	}
	batch, err := c.Events.CreateBatch(t.Context(), "acme", openapi.BatchRequest{Events: []openapi.BatchEvent{{EventType: "a", Payload: []byte(`1`)}, {EventType: "a b", Payload: []byte(`1`)}}})
	if err != nil || len(batch.Data) != 2 {
		t.Fatalf("CreateBatch = %+v, %v; want 2 results", batch, err)
	}
	if refused, err := batch.Data[1].AsRefused(); err != nil || refused.Error.Code != "invalid" {
		t.Errorf("CreateBatch[1] = %+v, %v; want a refusal", refused, err)
	}
}
