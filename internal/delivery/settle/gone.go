package settle

import (
	"context"
	"fmt"

	"surehook/internal/conflict"
	"surehook/internal/hook"
)

// disableEndpoint disables an endpoint after an answer 410 Gone. An endpoint
// changed by the owner after the answer stays as the owner set it.
//
// An endpoint that this answer disabled is notified about again, under the same key: the
// answer to the write was lost, or the process of the write died before the notification.
func (s *Settler) disableEndpoint(ctx context.Context, recorded *hook.Delivery) error {
	disabled := false
	err := conflict.Repeat(ctx, s.Wait, maxSaveAttempts, func() error {
		e, err := s.Store.Endpoint(ctx, recorded.Tenant, recorded.ID.Endpoint)
		deleted := err != nil && hook.CodeOf(err) == hook.CodeNotFound
		if err != nil && !deleted {
			return fmt.Errorf("read endpoint %s: %w", recorded.ID.Endpoint, err)
		}
		if !deleted && e.Status == hook.StatusDisabled && e.Reason == hook.ReasonGone && e.StatusSince.UnixMilli() == recorded.UpdatedAt.UnixMilli() {
			disabled = true
			return nil
		}
		if deleted || e.Status == hook.StatusDisabled || e.UpdatedAt.After(recorded.UpdatedAt) {
			return nil
		}
		after := e.Disabled(hook.ReasonGone, recorded.UpdatedAt)
		record, err := hook.AuditDisabling(e, after)
		if err != nil {
			return err //nolint:wrapcheck // the message is complete
		}
		if err := s.Store.DisableEndpoint(ctx, after, record); err != nil {
			return fmt.Errorf("disable endpoint %s: %w", e.ID, err)
		}
		disabled = true
		return nil
	})
	if err != nil && hook.CodeOf(err) == hook.CodeConflict {
		return hook.Conflict(fmt.Sprintf("endpoint %s changed %d times before the disabling", recorded.ID.Endpoint, maxSaveAttempts))
	}
	if err != nil || !disabled {
		return err
	}
	s.notifyGone(ctx, recorded)
	return nil
}

// notifyGone reports the disabled endpoint. The log names a failure; the endpoint's
// reason still shows the cause.
func (s *Settler) notifyGone(ctx context.Context, recorded *hook.Delivery) {
	Notify(ctx, s.Notifier, s.Log, hook.Notification{
		Type: hook.NotificationDisabled, Tenant: recorded.Tenant, Endpoint: recorded.ID.Endpoint, Delivery: recorded.ID,
		At: recorded.UpdatedAt, Reason: "The endpoint answered 410 Gone and wants no more deliveries.",
		Key: fmt.Sprintf("%s/%s/%d", hook.NotificationDisabled, recorded.ID.Endpoint, recorded.UpdatedAt.UnixMilli()),
	})
}
