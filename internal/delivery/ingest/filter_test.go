package ingest_test

import (
	"testing"

	"surehook.example/surehook/internal/hook"
)

// filtered makes an endpoint for all events with the filter.
func (w *bundle) filtered(filter string, types ...string) hook.Endpoint {
	w.T.Helper()

	id := hook.NewEndpointID()
	e := hook.Endpoint{
		ID: id, Tenant: "acme", URL: "https://example.com/" + string(id), EventTypes: types, Status: hook.StatusActive, Filter: []byte(filter),
	}
	if err := w.Store.CreateEndpoint(w.T.Context(), e); err != nil {
		w.T.Fatal(err)
	}
	e.Version = 1
	return e
}

// An endpoint whose filter does not match counts as not subscribed.
func TestAccept_AsksTheFilters(t *testing.T) {
	t.Parallel()

	w := setup(t)
	match := w.filtered(`{"payload":{"order":[{"numeric":["<",5]}]}}`, "order.*")
	w.filtered(`{"payload":{"order":[{"numeric":[">",5]}]}}`, "order.*")
	w.filtered(`{"payload":{"order":[1]}}`, "user.*")
	later := w.filtered(`{"payload":{"order":[{"like":1}]}}`, "*") // of a later build
	result, err := w.acceptor.Accept(t.Context(), "acme", paid(""))
	if err != nil || result.Deliveries != 2 {
		t.Fatalf("Accept() = %+v, %v; want 2 deliveries", result, err)
	}
	for _, task := range w.tasks() {
		if id := task.Delivery.Endpoint; id != match.ID && id != later.ID {
			t.Errorf("task for %s; want %s and %s alone", id, match.ID, later.ID)
		}
	}
}

// A changed filter applies to the next event.
func TestAccept_SeesAChangedFilter(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.filtered(`{"payload":{"order":[2]}}`, "*")
	for i, filter := range []string{`{"payload":{"order":[1]}}`, ``} {
		if result, err := w.acceptor.Accept(t.Context(), "acme", paid("")); err != nil || result.Deliveries != i {
			t.Errorf("Accept() %d = %+v, %v; want %d deliveries", i, result, err, i)
		}
		e.Filter = []byte(filter)
		if err := w.Store.UpdateEndpoint(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		e.Version++
	}
	if result, err := w.acceptor.Accept(t.Context(), "acme", paid("")); err != nil || result.Deliveries != 1 {
		t.Errorf("Accept() without a filter = %+v, %v; want a delivery", result, err)
	}
}

// A test event names its endpoint, so no filter is asked.
func TestAcceptFor_AsksNoFilter(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.filtered(`{"payload":{"order":[2]}}`, "*")
	if result, err := w.acceptor.AcceptFor(t.Context(), e, "order.paid", []byte(`{}`), false); err != nil || result.Deliveries != 1 {
		t.Errorf("AcceptFor() = %+v, %v; want a delivery", result, err)
	}
}

// An operational event asks the filters, too.
func TestAcceptOurs_AsksTheFilters(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.filtered(`{"type":["order.paid"]}`, "*", "webhook.*")
	result, err := w.acceptor.AcceptOurs(t.Context(), "acme", "webhook.circuit.opened", []byte(`{}`), "key")
	if err != nil || result.ID != "" {
		t.Errorf("AcceptOurs() = %+v, %v; want no event", result, err)
	}
}
