package registry_test

import (
	"context"
	"errors"
	"testing"

	"surehook/internal/admin/page"
	"surehook/internal/admin/registry"
	"surehook/internal/hook"
)

var errDown = &hook.Error{Code: hook.CodeUnavailable, Message: "the store did not answer"}

// brokenVault seals nothing.
type brokenVault struct{}

func (brokenVault) Seal(context.Context, string, hook.EndpointID) ([]byte, error) {
	return nil, errDown
}

// TestRegistry_faults checks that a port's fault is passed on as what it is,
// and is never taken for something that does not exist.
func TestRegistry_faults(t *testing.T) {
	t.Parallel()

	gone := func(t *testing.T) context.Context {
		t.Helper()
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errDown) // the memory store answers as one that cannot be reached
		return ctx
	}
	id := hook.NewEndpointID()
	event := hook.KeyedEventID(tenant, "k")
	page := page.Request{Limit: 1}
	tests := []struct {
		name string
		do   func(ctx context.Context, b *bundle) error
	}{
		{name: "create", do: func(ctx context.Context, b *bundle) error {
			_, _, err := b.Create(ctx, tenant, registry.Fields{URL: new("https://example.com/")}, "")
			return err
		}},
		{name: "read", do: func(ctx context.Context, b *bundle) error { _, err := b.Endpoint(ctx, tenant, string(id)); return err }},
		{name: "read by uid", do: func(ctx context.Context, b *bundle) error { _, err := b.Endpoint(ctx, tenant, "crm"); return err }},
		{name: "list", do: func(ctx context.Context, b *bundle) error { _, err := b.List(ctx, tenant, page); return err }},
		{name: "pause", do: func(ctx context.Context, b *bundle) error { _, err := b.Pause(ctx, tenant, string(id)); return err }},
		{name: "standing", do: func(ctx context.Context, b *bundle) error {
			_, err := b.EndpointStatus(ctx, tenant, string(id))
			return err
		}},
		{name: "reset circuit", do: func(ctx context.Context, b *bundle) error {
			_, err := b.ResetCircuit(ctx, tenant, string(id))
			return err
		}},
		{name: "open circuit", do: func(ctx context.Context, b *bundle) error {
			_, err := b.OpenCircuit(ctx, tenant, string(id))
			return err
		}},
		{name: "event", do: func(ctx context.Context, b *bundle) error { _, err := b.Event(ctx, tenant, event); return err }},
		{name: "deliveries", do: func(ctx context.Context, b *bundle) error {
			_, err := b.EventDeliveries(ctx, tenant, event, page)
			return err
		}},
		{name: "delivery", do: func(ctx context.Context, b *bundle) error {
			_, err := b.Delivery(ctx, tenant, hook.DeliveryID{Event: event, Endpoint: id, Generation: 1})
			return err
		}},
		{name: "list slow", do: func(ctx context.Context, b *bundle) error {
			_, err := b.ListSlow(ctx, tenant, true, page)
			return err
		}},
		{name: "health", do: func(ctx context.Context, b *bundle) error { _, err := b.Health(ctx, tenant, string(id)); return err }},
		{name: "notices", do: func(ctx context.Context, b *bundle) error {
			_, err := b.Notifications(ctx, tenant, string(id), page)
			return err
		}},
		{name: "pipeline", do: func(ctx context.Context, b *bundle) error { _, err := b.Pipeline(ctx); return err }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			err := tt.do(gone(t), setup(t))
			if code := hook.CodeOf(err); err == nil || code != hook.CodeUnavailable && code != hook.CodeInternal {
				t.Errorf("%s = %v; want a fault of ours", tt.name, err)
			}
		})
	}

	t.Run("a vault that is down stores nothing", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		e, _ := b.create(t, nil)
		b.Vault = brokenVault{}
		_, _, err := b.Create(t.Context(), tenant, registry.Fields{URL: new("https://example.com/")}, "")
		_, _, rotateErr := b.Rotate(t.Context(), tenant, string(e.ID), "", 0)
		if !errors.Is(err, errDown) || !errors.Is(rotateErr, errDown) {
			t.Errorf("Create = %v, Rotate = %v; want the vault's error", err, rotateErr)
		}
		all, err := b.store.Endpoints(t.Context(), tenant)
		if err != nil || len(all) != 1 || all[0].Version != 1 {
			t.Errorf("Endpoints = %v, %v; want the one before, as it was", all, err)
		}
	})
}
