package settle

import (
	"context"
	"fmt"
	"strings"

	"surehook/internal/hook"
)

// notifyDead reports a dead delivery. The delivery of a notification is not
// reported, so that no notification causes another notification.
func (s Settlement) notifyDead(ctx context.Context, d hook.Delivery) error {
	if d.State != hook.StateDead || s.Notifier == nil || strings.HasPrefix(d.EventType, hook.SystemPrefix) {
		return nil
	}
	n := hook.Notification{
		Type: hook.NotificationDead, Tenant: d.Tenant, Endpoint: d.ID.Endpoint, Delivery: d.ID, At: d.UpdatedAt,
		Reason:  fmt.Sprintf("The delivery of an event of type %s is dead: %s.", d.EventType, d.Reason),
		Figures: map[string]float64{"attempts": float64(d.Attempts), "last_status": float64(d.Last.Status)},
		Key:     hook.NotificationDead + "/" + d.ID.String(),
	}
	if err := s.Notifier.Notify(ctx, n); err != nil {
		return fmt.Errorf("notify that delivery %s is dead: %w", d.ID, err)
	}
	return nil
}
