package ingest

import (
	"context"
	"fmt"
	"time"

	"surehook/internal/hook"
)

// spend counts the valid posts before their event types are read, before their filters and
// schemas run, and before anything is stored: past EventsPerSecond every valid post fails. Only a tenant with the limit costs a
// write. Repeats of accepted events count too: a repeat reads and sends as much as a new
// event.
func (a *Acceptor) spend(ctx context.Context, tenant hook.TenantID, l hook.TenantLimits, posts []post, now time.Time) {
	valid := 0
	for _, p := range posts {
		if p.err == nil {
			valid++
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
