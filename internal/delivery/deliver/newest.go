package deliver

import (
	"context"
	"fmt"

	"surehook/internal/hook"
)

// loadNewest adds the newest events of the keys of the jobs to the snapshot, in one more
// read; without a key, no read. loadNewest returns the jobs without failures, in order: a
// failed read fails the jobs with a key, and no other job.
func (d *Deliverer) loadNewest(ctx context.Context, jobs []*job, to *Snapshot) []*job {
	wanted := make(map[hook.NewestKey]bool)
	var keys []hook.NewestKey
	var keyed, others []*job
	for _, j := range jobs {
		n, ok := to.newestOf(j.token)
		if !ok {
			others = append(others, j)
			continue
		}
		keyed = append(keyed, j)
		if !wanted[n.NewestKey] {
			wanted[n.NewestKey] = true
			keys = append(keys, n.NewestKey)
		}
	}
	if len(keys) == 0 {
		return jobs
	}
	found, err := d.Store.Newest(ctx, keys)
	if err != nil {
		failAll(keyed, fmt.Errorf("read the newest events of %d keys: %w", len(keys), err))
		return others
	}
	to.Newest = make(map[hook.NewestKey]hook.Newest, len(found))
	for _, n := range found {
		to.Newest[n.NewestKey] = n
	}
	return jobs
}

// newestOf returns the token's event as the newest of its key; ok is false without a key.
// A replay is the order of a person, and never superseded.
func (s Snapshot) newestOf(t hook.Token) (n hook.Newest, ok bool) {
	e, known := s.Endpoints[t.Delivery.Endpoint]
	event, stored := s.Events[t.Delivery.Event]
	if !known || !stored || t.Delivery.Generation > 1 {
		return hook.Newest{}, false
	}
	return hook.NewestOf(e, event)
}

// supersedes reports whether another event with the same key in the window is newer.
func (s Snapshot) supersedes(t hook.Token) bool {
	if len(s.Newest) == 0 {
		return false
	}
	own, ok := s.newestOf(t)
	if !ok {
		return false
	}
	newest, ok := s.Newest[own.NewestKey]
	return ok && newest.After(own)
}
