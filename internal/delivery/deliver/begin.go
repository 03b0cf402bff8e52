package deliver

import (
	"context"
	"fmt"
	"sync"

	"surehook/internal/hook"
)

// beginReplays records of each replay whose token came first that there is one: who
// ordered it may have died, or not have had the time. It changes the snapshot
// and returns the jobs without those that failed. A replay that may not be is
// not recorded.
func (d *Deliverer) beginReplays(ctx context.Context, jobs []*job, snapshot Snapshot, errs []error) []*job {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		ready = make([]*job, 0, len(jobs))
		begun []hook.Delivery
	)
	for _, j := range jobs {
		old, ok := unrecordedReplay(j.token, snapshot)
		if !ok {
			mu.Lock()
			ready = append(ready, j)
			mu.Unlock()
			continue
		}
		wg.Go(func() {
			replayed, err := d.recordReplay(ctx, old, j.token.ReplayRequest)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs[j.index] = err
				return
			}
			ready = append(ready, j)
			begun = append(begun, replayed)
		})
	}
	wg.Wait()
	for _, replayed := range begun {
		snapshot.Deliveries[replayed.ID] = replayed
	}
	return ready
}

// unrecordedReplay returns the delivery that the token replays, if nothing says yet
// that it is replayed.
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

// recordReplay records the order in the delivery, and returns the delivery as it is then.
func (d *Deliverer) recordReplay(ctx context.Context, old hook.Delivery, o hook.ReplayRequest) (hook.Delivery, error) {
	for range settleTries {
		replayed, refused := old.Replay(o, d.Now())
		if refused != nil {
			return old, nil //nolint:nilerr // it stays as it is, and the token is dropped
		}
		err := d.Store.SaveDelivery(ctx, replayed, nil)
		if err == nil {
			replayed.Version++
			return replayed, nil
		}
		if hook.CodeOf(err) != hook.CodeConflict {
			return old, fmt.Errorf("record replay of delivery %s: %w", old.ID, err)
		}
		if old, err = d.Store.Delivery(ctx, old.ID); err != nil {
			return old, fmt.Errorf("read delivery %s: %w", old.ID, err)
		}
	}
	return old, hook.Conflict(fmt.Sprintf("delivery %s changed %d times while its replay was recorded", old.ID, settleTries))
}
