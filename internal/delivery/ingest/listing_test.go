package ingest_test

import (
	"slices"
	"testing"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
)

// The endpoints of an event are found by its type; all patterns are compared with each endpoint alone.
func TestAccept_findsEndpointsByType(t *testing.T) {
	t.Parallel()

	w := setup(t)
	patterns := [][]string{
		{"*"}, {"order.*"}, {"order:*"}, {"order.paid"}, {"order.paid.*"}, {"order"}, {"order.*", "order.paid", "*"}, {"webhook.*"}, {"user.created"},
	}
	want := make(map[string][]hook.EndpointID)
	types := []string{"order", "order.", "order.paid", "order.paid.late", "order:paid", "user.created", "user"}
	for _, p := range patterns {
		e := w.endpoint("acme", p...)
		for _, eventType := range types {
			if hook.Subscribes(p, eventType) {
				want[eventType] = append(want[eventType], e.ID)
			}
		}
	}
	for _, eventType := range types {
		result, err := w.acceptor.Accept(t.Context(), "acme", ingest.Request{Type: eventType, Payload: []byte(`{}`)})
		if err != nil {
			t.Fatal(err)
		}
		e, err := w.Store.Event(t.Context(), result.ID)
		var got []hook.EndpointID
		for _, target := range e.Targets {
			got = append(got, target.Endpoint)
		}
		slices.Sort(want[eventType])
		if !slices.Equal(got, want[eventType]) || err != nil {
			t.Errorf("an event %s goes to %v, %v; want %v", eventType, got, err, want[eventType])
		}
	}
}

// After a change, a process reads the endpoints that changed, and no list.
func TestAccept_readsChangesAlone(t *testing.T) {
	t.Parallel()

	w := setup(t)
	first, second := w.endpoint("acme", "order.*"), w.endpoint("acme", "order.*")
	counting := &countingStore{Store: w.Store}
	w.acceptor.Directory = ingest.NewDirectory(counting)
	post := func(want int) {
		t.Helper()

		result, err := w.acceptor.Accept(t.Context(), "acme", paid(""))
		if err != nil || result.Deliveries != want {
			t.Errorf("Accept() = %+v, %v; want %d deliveries", result, err, want)
		}
	}
	post(2)
	w.endpoint("acme", "*")
	post(3)
	first.EventTypes = []string{"user.*"}
	if err := w.Store.UpdateEndpoint(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	post(2)
	if err := w.Store.DeleteEndpoint(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	post(1)
	if err := w.Store.SetTenantLimits(t.Context(), "acme", hook.TenantLimits{DeliveriesPerEvent: 1}); err != nil {
		t.Fatal(err)
	}
	post(1)
	if counting.reads != 1 {
		t.Errorf("the list was read %d times; want once", counting.reads)
	}
	for range 40 { // more than the tenant names
		w.endpoint("acme", "user.*")
	}
	post(1)
	if counting.reads != 2 {
		t.Errorf("the list was read %d times; want twice", counting.reads)
	}
}

func TestAccept_moreEndpointsThanAnEventGoesTo(t *testing.T) {
	t.Parallel()

	w := setup(t)
	if err := w.Store.SetTenantLimits(t.Context(), "acme", hook.TenantLimits{Endpoints: hook.MaxEndpointsPerTenant}); err != nil {
		t.Fatal(err)
	}
	for range hook.MaxTargets {
		w.endpoint("acme", "*", "webhook.*")
	}
	if result, err := w.acceptor.Accept(t.Context(), "acme", paid("")); err != nil || result.Deliveries != hook.MaxTargets {
		t.Errorf("Accept() = %+v, %v; want %d deliveries", result, err, hook.MaxTargets)
	}
	w.endpoint("acme", "*", "webhook.*")
	if _, err := w.acceptor.Accept(t.Context(), "acme", paid("")); hook.CodeOf(err) != hook.CodeForbidden {
		t.Errorf("Accept() for %d endpoints = %v; want forbidden", hook.MaxTargets+1, err)
	}
	result, err := w.acceptor.AcceptOurs(t.Context(), "acme", "webhook.endpoint.disabled", []byte(`{}`), "key")
	if err != nil || result.Deliveries != hook.MaxTargets {
		t.Errorf("AcceptOurs() = %+v, %v; want %d deliveries", result, err, hook.MaxTargets)
	}
}
