package ingest

import (
	"context"
	"fmt"
	"time"

	"surehook/internal/hook"
)

// limit applies the tenant's limits to the posts, before anything is stored: past
// EventsPerSecond every valid post fails, and past DeliveriesPerEvent a post gets a
// refusal. Only a tenant with EventsPerSecond costs a write. Repeats of accepted
// events count too: a repeat reads and sends as much as a new event.
func (a *Acceptor) limit(ctx context.Context, tenant hook.TenantID, l hook.TenantLimits, posts []post, now time.Time) {
	valid := 0
	for i := range posts {
		p := &posts[i]
		if p.err == nil {
			valid++
		}
		if n := len(p.event.Targets); p.refusal == nil && l.DeliveriesPerEvent > 0 && n > l.DeliveriesPerEvent {
			p.refusal = l.TooManyDeliveries(n)
		}
	}
	if l.EventsPerSecond == 0 || valid == 0 {
		return
	}
	wait, err := a.Store.Spend(ctx, tenant, hook.NewSpend(valid, l.EventsPerSecond, now))
	switch {
	case err != nil:
		err = fmt.Errorf("count events of tenant %s: %w", tenant, err)
	case wait > 0:
		err = l.TooManyEvents(wait)
	default:
		return
	}
	for i := range posts {
		if posts[i].err == nil {
			posts[i].err = err
		}
	}
}
