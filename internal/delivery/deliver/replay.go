package deliver

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"surehook/internal/hook"
)

// recordReplays records the new replays of a batch in their predecessors, because
// the sender of the tokens may have died before the write. recordReplays adds the
// written records to the snapshot and returns the jobs without failures, in order. A
// refused replay is not recorded, and judgeJob drops the token.
func (d *Deliverer) recordReplays(ctx context.Context, jobs []*job, snapshot Snapshot) []*job {
	var (
		wg       sync.WaitGroup
		mu       sync.Mutex
		recorded []hook.Delivery
	)
	for _, j := range jobs {
		old, ok := unrecordedReplay(j.token, snapshot)
		if !ok {
			continue
		}
		wg.Go(func() {
			replayed, err := d.recordReplay(ctx, old, j.token.ReplayRequest)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				j.err = err
				return
			}
			recorded = append(recorded, replayed)
		})
	}
	wg.Wait()
	for _, replayed := range recorded {
		snapshot.Deliveries[replayed.Ref()] = replayed
	}
	return slices.DeleteFunc(slices.Clone(jobs), func(j *job) bool { return j.err != nil })
}

// unrecordedReplay returns the delivery to be replayed by the token. ok is false
// when the token belongs to no replay, or the replay is recorded.
func unrecordedReplay(t hook.Token, from Snapshot) (old hook.Delivery, ok bool) {
	before, replay := t.Delivery.Predecessor()
	if !replay || t.Attempt != 1 {
		return hook.Delivery{}, false
	}
	if _, recorded := from.Deliveries[t.Delivery]; recorded {
		return hook.Delivery{}, false
	}
	old, ok = from.Deliveries[before]
	return old, ok && old.Tenant == t.Tenant && old.Replayed.Generation == 0
}

// recordReplay writes the replay request into the delivery and returns the new
// record. A delivery whose state refuses the replay is returned unchanged.
func (d *Deliverer) recordReplay(ctx context.Context, old hook.Delivery, request hook.ReplayRequest) (hook.Delivery, error) {
	err := hook.OnConflict(ctx, d.Wait, maxSaveAttempts, func() error {
		replayed, refused := old.Replay(request, d.Now())
		if refused != nil {
			return nil //nolint:nilerr // the delivery stays as it is, and judgeJob drops the token
		}
		saveErr := d.Store.SaveDelivery(ctx, replayed, nil)
		if saveErr == nil {
			old = replayed
			old.Version++
			return nil
		}
		saveErr = fmt.Errorf("record replay of delivery %s: %w", old.ID, saveErr)
		if hook.CodeOf(saveErr) != hook.CodeConflict {
			return saveErr
		}
		var err error
		if old, err = d.Store.Delivery(ctx, replayed.Ref()); err != nil {
			return fmt.Errorf("read delivery %s: %w", replayed.ID, err)
		}
		return saveErr
	})
	if err != nil && hook.CodeOf(err) == hook.CodeConflict {
		return old, hook.Conflict(fmt.Sprintf("delivery %s changed %d times during the recording of a replay", old.ID, maxSaveAttempts))
	}
	return old, err
}
