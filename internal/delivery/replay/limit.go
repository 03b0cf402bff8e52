package replay

import (
	"context"
	"fmt"
	"time"

	"surehook.example/surehook/internal/hook"
)

// countReplays counts n replays against the tenant's limit. It returns how long to wait until the
// limit has room for them; 0 if they are counted.
func (r *Replayer) countReplays(ctx context.Context, tenant hook.TenantID, l hook.TenantLimits, n int) (time.Duration, error) {
	if l.ReplaysPerHour == 0 || n == 0 {
		return 0, nil
	}
	return r.Store.Spend(ctx, tenant, hook.NewSpend(hook.SpentReplays, n, l.ReplaysPerHour, time.Hour, r.Now()))
}

// countNow counts replays by hand: past the tenant's limit it returns CodeThrottled.
func (r *Replayer) countNow(ctx context.Context, tenant hook.TenantID, candidates []*candidate) error {
	n := 0
	for _, c := range candidates {
		if c.skip == "" {
			n++
		}
	}
	l, err := r.Store.TenantLimits(ctx, tenant)
	if err != nil {
		return err
	}
	wait, err := r.countReplays(ctx, tenant, l, n)
	if err == nil && wait > 0 {
		return fmt.Errorf("replay: %w", l.TooManyReplays(wait))
	}
	return err
}

// leastPause is the shortest pause of a job by its tenant's limit.
const leastPause = 2 * pageLead

// pause returns how long the job must wait with a page of n deliveries until the tenant's limit has
// room.
func (w *jobRun) pause(ctx context.Context, n int) (time.Duration, error) {
	if w.job.Action == ActionDiscard {
		return 0, nil
	}
	if w.most == nil {
		l, err := w.Store.TenantLimits(ctx, w.job.Tenant)
		if err != nil {
			return 0, err
		}
		w.most = &l
	}
	wait, err := w.countReplays(ctx, w.job.Tenant, *w.most, n)
	if wait > 0 {
		wait = max(wait, leastPause)
	}
	return wait, err
}
