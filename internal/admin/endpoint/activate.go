package endpoint

import (
	"context"
	"slices"

	"surehook.example/surehook/internal/hook"
)

// Pause makes an active endpoint paused. Deliveries to a paused endpoint are parked.
//
// Pause, Resume, Disable and Enable change nothing if the endpoint already has
// the new status. CodeConflict if the status does not allow the change: a
// paused endpoint is resumed, and a disabled endpoint is enabled.
func (a *Admin) Pause(ctx context.Context, tenant hook.TenantID, ref string) (hook.Endpoint, error) {
	return a.setStatus(ctx, tenant, ref, hook.StatusPaused, hook.StatusActive)
}

// Resume makes a paused endpoint active, tries it at once and releases the parked deliveries. After
// an error the endpoint may be active; a second Resume starts the release again.
func (a *Admin) Resume(ctx context.Context, tenant hook.TenantID, ref string) (hook.Endpoint, error) {
	return a.activate(ctx, tenant, ref, hook.StatusPaused)
}

// Disable makes an active or paused endpoint disabled. Deliveries to a disabled endpoint are parked.
func (a *Admin) Disable(ctx context.Context, tenant hook.TenantID, ref string) (hook.Endpoint, error) {
	return a.setStatus(ctx, tenant, ref, hook.StatusDisabled, hook.StatusActive, hook.StatusPaused)
}

// Enable makes a disabled endpoint active, as Resume does. A person or Surehook may have disabled
// the endpoint.
func (a *Admin) Enable(ctx context.Context, tenant hook.TenantID, ref string) (hook.Endpoint, error) {
	return a.activate(ctx, tenant, ref, hook.StatusDisabled)
}

// activate makes an endpoint active. Whoever does so thinks that it works: see admission.Record.Mended.
func (a *Admin) activate(ctx context.Context, tenant hook.TenantID, ref string, from hook.Status) (hook.Endpoint, error) {
	e, err := a.setStatus(ctx, tenant, ref, hook.StatusActive, from)
	if err != nil {
		return e, err
	}
	return e, a.mended(ctx, e, false)
}

func (a *Admin) setStatus(
	ctx context.Context, tenant hook.TenantID, ref string, to hook.Status, from ...hook.Status,
) (hook.Endpoint, error) {
	return a.change(ctx, tenant, ref, 0, func(e *hook.Endpoint) (bool, error) {
		switch {
		case e.Status == to:
			return false, nil
		case !slices.Contains(from, e.Status):
			return false, hook.Conflict("the endpoint is " + e.Status.String())
		}
		e.Status, e.StatusSince, e.Reason = to, a.now(), hook.ReasonManual
		if to == hook.StatusActive {
			e.Reason = hook.ReasonNone
		}
		return true, nil
	})
}
