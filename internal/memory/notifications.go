package memory

import (
	"context"
	"slices"
	"sync"

	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
)

var _ settle.Notifier = (*Notifications)(nil)

// Notifications records notifications. The zero value is ready to use.
// Notifications is safe for concurrent use.
type Notifications struct {
	mu   sync.Mutex
	sent []hook.Notification
}

// Notify records the notification.
func (n *Notifications) Notify(_ context.Context, notification hook.Notification) error {
	n.mu.Lock()
	defer n.mu.Unlock()

	n.sent = append(n.sent, notification)
	return nil
}

// Sent returns the notifications in the order of Notify.
func (n *Notifications) Sent() []hook.Notification {
	n.mu.Lock()
	defer n.mu.Unlock()

	return slices.Clone(n.sent)
}
