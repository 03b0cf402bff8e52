package endpoint_test

import (
	"context"
	"errors"
	"testing"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/hook"
)

var errDown = &hook.Error{Code: hook.CodeUnavailable, Message: "the store did not answer"}

// brokenVault seals nothing.
type brokenVault struct{}

func (brokenVault) Seal(context.Context, string, hook.TenantID, hook.EndpointID) ([]byte, error) {
	return nil, errDown
}

// TestAdmin_faults checks that Admin returns a fault of a port as a fault, and not
// as CodeNotFound.
func TestAdmin_faults(t *testing.T) {
	t.Parallel()

	gone := func(t *testing.T) context.Context {
		t.Helper()
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errDown) // the memory store fails like an unreachable store
		return ctx
	}
	id := hook.NewEndpointID()
	page := page.Request{Limit: 1}
	tests := []struct {
		name string
		do   func(ctx context.Context, b *bundle) error
	}{
		{name: "create", do: func(ctx context.Context, b *bundle) error {
			_, _, err := b.Create(ctx, tenant, endpoint.Fields{URL: new("https://example.com/")}, "")
			return err
		}},
		{name: "read", do: func(ctx context.Context, b *bundle) error { _, err := b.Get(ctx, tenant, string(id)); return err }},
		{name: "read by uid", do: func(ctx context.Context, b *bundle) error { _, err := b.Get(ctx, tenant, "crm"); return err }},
		{name: "list", do: func(ctx context.Context, b *bundle) error { _, err := b.List(ctx, tenant, page); return err }},
		{name: "pause", do: func(ctx context.Context, b *bundle) error { _, err := b.Pause(ctx, tenant, string(id)); return err }},
		{name: "standing", do: func(ctx context.Context, b *bundle) error {
			_, err := b.Status(ctx, tenant, string(id))
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
		{name: "list slow", do: func(ctx context.Context, b *bundle) error {
			_, err := b.ListSlow(ctx, tenant, true, page)
			return err
		}},
		{name: "notices", do: func(ctx context.Context, b *bundle) error {
			_, err := b.Notifications(ctx, tenant, string(id), page)
			return err
		}},
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
		_, _, err := b.Create(t.Context(), tenant, endpoint.Fields{URL: new("https://example.com/")}, "")
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
