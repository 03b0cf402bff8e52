package breaker

import (
	"context"
	"fmt"
	"time"
)

// announce tells the owner that the circuit opened or closed, if the gate may not have done so,
// and records it. The owner gets one notification per key.
func (r *reconciliation) announce(ctx context.Context) error {
	at := r.record.AnnounceAt
	if at.IsZero() || r.now.Before(at) {
		return nil
	}
	if n := r.record.Announcement(); r.endpoint != nil {
		if err := r.Notifier.Notify(ctx, n); err != nil {
			return fmt.Errorf("notify %s: %w", n.Type, err)
		}
	}
	announced := r.record
	announced.AnnounceAt = time.Time{}
	if err := r.saveCircuit(ctx, announced); err != nil {
		return err
	}
	announced.Version++
	r.record = announced
	return nil
}
