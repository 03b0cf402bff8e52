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
func (s Completion) notifyDead(ctx context.Context, d hook.Delivery) {
	if d.State != hook.StateDead || s.Notifier == nil || d.ID.Event.IsTest() || strings.HasPrefix(d.EventType, hook.SystemPrefix) {
		return
	}
	Notify(ctx, s.Notifier, s.Log, hook.Notification{
		Type: hook.NotificationDead, Tenant: d.Tenant, Endpoint: d.ID.Endpoint, Delivery: d.ID, At: d.UpdatedAt,
		Reason:  fmt.Sprintf("The delivery of an event of type %s is dead: %s.", d.EventType, d.Reason),
		Figures: map[string]float64{"attempts": float64(d.Attempts), "last_status": float64(d.Last.Status)},
		Key:     hook.NotificationDead + "/" + d.ID.String(),
	})
}

// Notify sends a notification about a delivery and logs a failure at level ERROR. A failed
// notification is lost: returning the error would stop the settlement, the dead letter or the
// release of deliveries for as long as the topic is broken.
func Notify(ctx context.Context, notifier Notifier, log *slog.Logger, n hook.Notification) {
	if err := notifier.Notify(ctx, n); err != nil {
		log.ErrorContext(ctx, "notification.failed",
			slog.String(names.LogType, n.Type),
			slog.String(names.LogTenant, string(n.Tenant)),
			slog.String(names.LogEndpoint, string(n.Endpoint)),
			slog.String(names.LogDelivery, n.Delivery.String()),
			slog.Any(names.LogError, err))
	}
}
