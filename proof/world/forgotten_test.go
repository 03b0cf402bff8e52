package world_test

import (
	"context"
	"testing"
	"time"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/world"
)

// Whoever resumes, enables or deletes an endpoint, or resets its circuit, makes the breaker
// ask the index, whatever the record says.
func TestAdmin_findsAForgottenDelivery(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		from hook.Status
		want string
		do   func(ctx context.Context, a *endpoint.Admin, e hook.Endpoint) error
	}{
		"resume": {from: hook.StatusPaused, want: "1 delivered", do: func(ctx context.Context, a *endpoint.Admin, e hook.Endpoint) error {
			_, err := a.Resume(ctx, e.Tenant, string(e.ID))
			return err
		}},
		"enable": {from: hook.StatusDisabled, want: "1 delivered", do: func(ctx context.Context, a *endpoint.Admin, e hook.Endpoint) error {
			_, err := a.Enable(ctx, e.Tenant, string(e.ID))
			return err
		}},
		"reset": {from: hook.StatusActive, want: "1 delivered", do: func(ctx context.Context, a *endpoint.Admin, e hook.Endpoint) error {
			_, err := a.ResetCircuit(ctx, e.Tenant, string(e.ID))
			return err
		}},
		"delete": {from: hook.StatusActive, want: "1 cancelled endpoint_deleted", do: func(ctx context.Context, a *endpoint.Admin, e hook.Endpoint) error {
			return a.Delete(ctx, e.Tenant, string(e.ID), 0)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := world.New(t, world.Options{Function: world.Breaker, Circuits: true})
			e := w.Endpoint(func(e *hook.Endpoint) { e.Status = tt.from })
			refs := parked(w, e, 1)
			record := w.Circuit(e)
			record.Waiting, record.AttendAt, record.EmptySince = false, time.Time{}, time.Time{} // forgotten
			if err := w.Store.SaveCircuit(t.Context(), record); err != nil {
				t.Fatal(err)
			}
			if err := tt.do(t.Context(), admin(w), e); err != nil {
				t.Fatal(err)
			}
			w.RunFor(10 * time.Minute)
			if got := w.States(refs); got != tt.want {
				t.Errorf("after the %s: %s; want %s", name, got, tt.want)
			}
		})
	}
}
