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
	wait, err := r.Limits.Spend(ctx, tenant, hook.NewSpend(hook.SpentReplays, n, l.ReplaysPerHour, time.Hour, r.Now()))
	if err != nil {
		return 0, fmt.Errorf("count replays of tenant %s: %w", tenant, err)
	}
	return wait, nil
}

func (r *Replayer) limitsOf(ctx context.Context, tenant hook.TenantID) (hook.TenantLimits, error) {
	l, err := r.Limits.TenantLimits(ctx, tenant)
	if err != nil {
		return l, fmt.Errorf("read limits of tenant %s: %w", tenant, err)
	}
	return l, nil
}

// countNow counts replays by hand: past the tenant's limit it returns CodeThrottled.
func (r *Replayer) countNow(ctx context.Context, tenant hook.TenantID, candidates ...*candidate) error {
	n := 0
	for _, c := range candidates {
		if c.refused == nil {
			n++
		}
	}
	l, err := r.limitsOf(ctx, tenant)
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

// paused reports whether the job must wait with a page of n deliveries until the tenant's limit has
// room. Then it saves the time from which the page is selected again.
func (w *jobRun) paused(ctx context.Context, n int) (bool, error) {
	if w.job.Discards {
		return false, nil
	}
	if w.most == nil {
		l, err := w.limitsOf(ctx, w.job.Tenant)
		if err != nil {
			return false, err
		}
		w.most = &l
	}
	wait, err := w.countReplays(ctx, w.job.Tenant, *w.most, n)
	if err != nil || wait == 0 {
		return false, err
	}
	j := w.job
	j.NextAt = w.now().Add(max(wait, leastPause))
	if err := w.saveJob(ctx, &j); err != nil {
		return true, taken(err)
	}
	w.job = j
	return true, nil
}

// taken returns errTaken for a conflict.
func taken(err error) error {
	if hook.CodeOf(err) == hook.CodeConflict {
		return errTaken
	}
	return err
}
