package memory

import (
	"context"
	"slices"
	"sync"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
)

var _ gate.Notifier = (*Notifications)(nil)

// Notifications hears what is told. The zero value has heard nothing; it is safe for
// concurrent use.
type Notifications struct {
	mu   sync.Mutex
	told []hook.Notification
}

// Notify keeps the notice.
func (n *Notifications) Notify(_ context.Context, notice hook.Notification) error {
	n.mu.Lock()
	defer n.mu.Unlock()

	n.told = append(n.told, notice)
	return nil
}

// Sent returns the notices in the order they were told.
func (n *Notifications) Sent() []hook.Notification {
	n.mu.Lock()
	defer n.mu.Unlock()

	return slices.Clone(n.told)
}
