package memory

import (
	"context"
	"slices"
	"sync"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
)

var _ gate.Notices = (*Notices)(nil)

// Notices hears what is told. The zero value has heard nothing; it is safe for
// concurrent use.
type Notices struct {
	mu   sync.Mutex
	told []hook.Notice
}

// Tell keeps the notice.
func (n *Notices) Tell(_ context.Context, notice hook.Notice) error {
	n.mu.Lock()
	defer n.mu.Unlock()

	n.told = append(n.told, notice)
	return nil
}

// Told returns the notices in the order they were told.
func (n *Notices) Told() []hook.Notice {
	n.mu.Lock()
	defer n.mu.Unlock()

	return slices.Clone(n.told)
}
