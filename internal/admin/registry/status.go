package registry

import (
	"context"
	"slices"

	"surehook/internal/hook"
)

// Pause stops an active endpoint for a while: its deliveries are parked.
//
// Like the other three it is done already when the endpoint has the status
// asked for, and CodeConflict when it must leave its status in another way: a
// paused endpoint is resumed, a disabled one enabled.
func (r *Registry) Pause(ctx context.Context, tenant hook.TenantID, ref string) (hook.Endpoint, error) {
	return r.setStatus(ctx, tenant, ref, hook.StatusPaused, hook.StatusActive)
}

// Resume makes a paused endpoint active: what is parked for it is released, as
// soon as its circuit is closed. On an error it may be active already, and
// resuming it again begins the release again.
func (r *Registry) Resume(ctx context.Context, tenant hook.TenantID, ref string) (hook.Endpoint, error) {
	return r.activate(ctx, tenant, ref, hook.StatusPaused)
}

// Disable stops an active or paused endpoint until someone enables it: its deliveries are parked.
func (r *Registry) Disable(ctx context.Context, tenant hook.TenantID, ref string) (hook.Endpoint, error) {
	return r.setStatus(ctx, tenant, ref, hook.StatusDisabled, hook.StatusActive, hook.StatusPaused)
}

// Enable makes a disabled endpoint active, whoever disabled it, as Resume does a paused one.
func (r *Registry) Enable(ctx context.Context, tenant hook.TenantID, ref string) (hook.Endpoint, error) {
	return r.activate(ctx, tenant, ref, hook.StatusDisabled)
}

func (r *Registry) activate(ctx context.Context, tenant hook.TenantID, ref string, from hook.Status) (hook.Endpoint, error) {
	e, err := r.setStatus(ctx, tenant, ref, hook.StatusActive, from)
	if err != nil {
		return hook.Endpoint{}, err
	}
	return e, r.release(ctx, e)
}

func (r *Registry) setStatus(
	ctx context.Context, tenant hook.TenantID, ref string, to hook.Status, from ...hook.Status,
) (hook.Endpoint, error) {
	return r.change(ctx, tenant, ref, 0, func(e *hook.Endpoint) (bool, error) {
		switch {
		case e.Status == to:
			return false, nil
		case !slices.Contains(from, e.Status):
			return false, hook.Conflict("the endpoint is " + e.Status.String())
		}
		e.Status, e.StatusSince, e.Reason = to, r.now(), hook.ReasonManual
		if to == hook.StatusActive {
			e.Reason = hook.ReasonNone
		}
		return true, nil
	})
}
