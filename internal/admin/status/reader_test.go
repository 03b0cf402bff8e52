package status_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
)

const tenant hook.TenantID = "acme"

var errDown = &hook.Error{Code: hook.CodeUnavailable, Message: "the store did not answer"}

// bundle is a Reader over memory with a clock set by tests.
type bundle struct {
	*status.Reader
	admin *endpoint.Admin
	store *memory.Store
	now   time.Time
}

func setup(t *testing.T) *bundle {
	t.Helper()

	b := &bundle{store: memory.NewStore(), now: time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)}
	clock := func() time.Time { return b.now }
	b.admin = &endpoint.Admin{
		Store: b.store, CircuitQueue: memory.NewCircuitQueue(clock),
		Vault: memory.Vault{}, Policy: egress.Policy{}, Now: clock,
	}
	b.Reader = &status.Reader{
		Endpoints: b.admin, Store: b.store, Queues: queues{}, Now: clock,
	}
	return b
}

// create stores an endpoint with default settings.
func (b *bundle) create(t *testing.T) hook.Endpoint {
	t.Helper()

	e, _, err := b.admin.Create(t.Context(), tenant, endpoint.Fields{URL: new("https://example.com/hooks")}, "")
	if err != nil {
		t.Fatalf("Create = %v", err)
	}
	return e
}

// stored returns the endpoint from the store.
func (b *bundle) stored(t *testing.T, id hook.EndpointID) hook.Endpoint {
	t.Helper()

	e, err := b.store.Endpoint(t.Context(), tenant, id)
	if err != nil {
		t.Fatalf("Endpoint(%s) = %v", id, err)
	}
	return e
}

// keepOpen stores a record with an open circuit and the flags, and returns the stored record.
func (b *bundle) keepOpen(t *testing.T, e hook.Endpoint, edit func(*admission.Record)) admission.Record {
	t.Helper()

	opened := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	r := admission.NewRecord(tenant, e.ID)
	r.State, r.Generation, r.Cooldown, r.OpenedAt, r.ProbeAt = circuit.Open, 3, 20*time.Minute, opened, opened.Add(40*time.Minute)
	edit(&r)
	if err := b.store.SaveCircuit(t.Context(), r); err != nil {
		t.Fatalf("SaveCircuit = %v", err)
	}
	r, err := b.store.Circuit(t.Context(), tenant, e.ID)
	if err != nil {
		t.Fatalf("Circuit = %v", err)
	}
	return r
}

// fieldsOf returns the wrong fields of an error with CodeInvalid.
func fieldsOf(t *testing.T, err error) []string {
	t.Helper()

	known, ok := errors.AsType[*hook.Error](err)
	if !ok || known.Code != hook.CodeInvalid {
		t.Fatalf("err = %v; want CodeInvalid", err)
	}
	var names []string
	for _, f := range known.Fields {
		names = append(names, f.Field)
	}
	return names
}

// TestReader_faults checks that Reader returns a fault of a port as a fault, and not
// as CodeNotFound.
func TestReader_faults(t *testing.T) {
	t.Parallel()

	id := hook.NewEndpointID()
	event := hook.KeyedEventID(tenant, "k")
	req := page.Request{Limit: 1}
	tests := []struct {
		name string
		do   func(ctx context.Context, b *bundle) error
	}{
		{name: "event", do: func(ctx context.Context, b *bundle) error { _, err := b.Event(ctx, tenant, event); return err }},
		{name: "deliveries", do: func(ctx context.Context, b *bundle) error {
			_, err := b.EventDeliveries(ctx, tenant, event, req)
			return err
		}},
		{name: "delivery", do: func(ctx context.Context, b *bundle) error {
			_, err := b.Delivery(ctx, tenant, hook.DeliveryID{Event: event, Endpoint: id, Generation: 1})
			return err
		}},
		{name: "health", do: func(ctx context.Context, b *bundle) error { _, err := b.Health(ctx, tenant, string(id)); return err }},
		{name: "tenant health", do: func(ctx context.Context, b *bundle) error { _, err := b.TenantHealth(ctx, tenant, ""); return err }},
		{name: "pipeline", do: func(ctx context.Context, b *bundle) error { _, err := b.Pipeline(ctx); return err }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(errDown) // the memory store answers like an unreachable store
			err := tt.do(ctx, setup(t))
			if code := hook.CodeOf(err); err == nil || code != hook.CodeUnavailable && code != hook.CodeInternal {
				t.Errorf("%s = %v; want a fault of the store", tt.name, err)
			}
		})
	}
}
