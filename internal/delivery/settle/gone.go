package settle

import (
	"context"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/store"
)

// disableEndpoint disables an endpoint after a 410 Gone. If the owner has changed the endpoint
// since the response, it stays as the owner set it.
//
// If the endpoint is already disabled by this very response, the owner is notified again under
// the same key: the response to the write may have been lost, or the process may have died
// before the notification.
func (c Completion) disableEndpoint(ctx context.Context, recorded hook.Delivery) error {
	endpoints := store.Table[hook.EndpointID, hook.Endpoint]{
		Name: "the endpoint", Wait: c.Wait,
		Read: func(ctx context.Context, id hook.EndpointID) (hook.Endpoint, error) {
			return c.Store.Endpoint(ctx, recorded.Tenant, id)
		},
		Write: func(ctx context.Context, _ hook.EndpointID, before, next hook.Endpoint) (hook.Endpoint, error) {
			return next, c.Store.DisableEndpoint(ctx, next, hook.AuditDisabling(before, next))
		},
	}
	_, e, err := endpoints.Update(ctx, recorded.ID.Endpoint, func(e hook.Endpoint) (hook.Endpoint, bool, error) {
		if e.Status == hook.StatusDisabled || e.UpdatedAt.After(recorded.UpdatedAt) {
			return e, false, nil
		}
		return e.Disabled(hook.ReasonGone, recorded.UpdatedAt), true, nil
	})
	if hook.CodeOf(err) == hook.CodeNotFound { // deleted
		return nil
	}
	if err == nil && e.Status == hook.StatusDisabled && e.Reason == hook.ReasonGone && e.StatusSince.UnixMilli() == recorded.UpdatedAt.UnixMilli() {
		c.notifyGone(ctx, recorded)
	}
	return err
}
