package settle

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// notifyDead reports a dead delivery to the owner, but for a test event's. The delivery of a
// notification is not reported, so that no notification causes another one.
func (c Completion) notifyDead(ctx context.Context, d hook.Delivery) {
	if d.State != hook.StateDead || d.ID.Event.IsTest() || strings.HasPrefix(d.EventType, hook.SystemPrefix) {
		return
	}
	c.Notify(ctx, hook.Notification{
		Type: hook.NotificationDead, Tenant: d.Tenant, Endpoint: d.ID.Endpoint, Delivery: d.ID, At: d.UpdatedAt,
		Reason:  fmt.Sprintf("The delivery of an event of type %s is dead: %s.", d.EventType, d.Reason),
		Figures: map[string]float64{"attempts": float64(d.Attempts), "last_status": float64(d.Last.Status)},
		Key:     hook.NotificationDead + "/" + d.ID.String(),
	})
}

// notifyGone tells the owner that the endpoint was disabled. If this fails, the failure is
// logged, and the reason in the endpoint still shows the cause.
func (c Completion) notifyGone(ctx context.Context, recorded hook.Delivery) {
	c.Notify(ctx, hook.Notification{
		Type: hook.NotificationDisabled, Tenant: recorded.Tenant, Endpoint: recorded.ID.Endpoint, Delivery: recorded.ID,
		At: recorded.UpdatedAt, Reason: "The endpoint answered 410 Gone and wants no more deliveries.",
		Key: fmt.Sprintf("%s/%s/%d", hook.NotificationDisabled, recorded.ID.Endpoint, recorded.UpdatedAt.UnixMilli()),
	})
}

// Notify sends a notification, reports whether it was sent, and logs a failure at level ERROR. One about
// a delivery is lost then: returning the error would stop the settlement and the dead letter for as
// long as the topic is broken.
func (c Completion) Notify(ctx context.Context, n hook.Notification) (sent bool) {
	err := c.Notifier.Notify(ctx, n)
	if err != nil {
		c.Log.ErrorContext(ctx, "notification.failed",
			slog.String(names.LogType, n.Type),
			slog.String(names.LogTenant, string(n.Tenant)),
			slog.String(names.LogEndpoint, string(n.Endpoint)),
			slog.String(names.LogDelivery, n.Delivery.String()),
			slog.Any(names.LogError, err))
	}
	return err == nil
}
