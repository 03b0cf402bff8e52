package settle

import (
	"context"
	"fmt"

	"surehook.example/surehook/internal/conflict"
	"surehook.example/surehook/internal/hook"
)

// disableEndpoint disables an endpoint after a 410 Gone. If the owner has changed the endpoint
// since the response, it stays as the owner set it.
//
// If the endpoint is already disabled by this very response, the owner is notified again under
// the same key: the response to the write may have been lost, or the process may have died
// before the notification.
func (s *Settler) disableEndpoint(ctx context.Context, recorded *hook.Delivery) error {
	disabled := false
	err := conflict.Repeat(ctx, s.Wait, maxSaveAttempts, func() error {
		e, err := s.Store.Endpoint(ctx, recorded.Tenant, recorded.ID.Endpoint)
		if hook.CodeOf(err) == hook.CodeNotFound {
			return nil // deleted
		}
		if err != nil {
			return fmt.Errorf("read endpoint %s: %w", recorded.ID.Endpoint, err)
		}
		switch {
		case e.Status == hook.StatusDisabled:
			disabled = e.Reason == hook.ReasonGone && e.StatusSince.UnixMilli() == recorded.UpdatedAt.UnixMilli()
			return nil
		case e.UpdatedAt.After(recorded.UpdatedAt):
			return nil
		}
		after := e.Disabled(hook.ReasonGone, recorded.UpdatedAt)
		record, err := hook.AuditDisabling(e, after)
		if err != nil {
			return err
		}
		if err := s.Store.DisableEndpoint(ctx, after, record); err != nil {
			return fmt.Errorf("disable endpoint %s: %w", e.ID, err)
		}
		disabled = true
		return nil
	})
	if err != nil && hook.CodeOf(err) == hook.CodeConflict {
		return hook.Conflict(fmt.Sprintf("endpoint %s changed %d times before it could be disabled", recorded.ID.Endpoint, maxSaveAttempts))
	}
	if err != nil || !disabled {
		return err
	}
	s.notifyGone(ctx, recorded)
	return nil
}

// notifyGone tells the owner that the endpoint was disabled. If this fails, the failure is
// logged, and the reason in the endpoint still shows the cause.
func (s *Settler) notifyGone(ctx context.Context, recorded *hook.Delivery) {
	Notify(ctx, s.Notifier, s.Log, hook.Notification{
		Type: hook.NotificationDisabled, Tenant: recorded.Tenant, Endpoint: recorded.ID.Endpoint, Delivery: recorded.ID,
		At: recorded.UpdatedAt, Reason: "The endpoint answered 410 Gone and wants no more deliveries.",
		Key: fmt.Sprintf("%s/%s/%d", hook.NotificationDisabled, recorded.ID.Endpoint, recorded.UpdatedAt.UnixMilli()),
	})
}
