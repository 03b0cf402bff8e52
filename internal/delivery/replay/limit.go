package replay

import (
	"context"
	"fmt"
	"time"

	"surehook.example/surehook/internal/hook"
)

// countReplays counts n replays against the tenant's limit. It returns the limits, and how long to wait
// until they have room for the replays; 0 if they are counted.
func (r *Replayer) countReplays(ctx context.Context, tenant hook.TenantID, n int) (l hook.TenantLimits, wait time.Duration, err error) {
	l, err = r.Store.TenantLimits(ctx, tenant)
	if err == nil && l.ReplaysPerHour > 0 && n > 0 {
		wait, err = r.Store.Spend(ctx, tenant, hook.NewSpend(hook.SpentReplays, n, l.ReplaysPerHour, time.Hour, r.Now()))
	}
	return l, wait, err
}

// countNow counts replays by hand: past the tenant's limit it returns CodeThrottled.
func (r *Replayer) countNow(ctx context.Context, tenant hook.TenantID, candidates []*candidate) error {
	n := 0
	for _, c := range candidates {
		if c.skip == "" {
			n++
		}
	}
	l, wait, err := r.countReplays(ctx, tenant, n)
	if err == nil && wait > 0 {
		return fmt.Errorf("replay: %w", l.TooManyReplays(wait))
	}
	return err
}

// leastPause is the shortest pause of a job by its tenant's limit.
const leastPause = 2 * pageLead
