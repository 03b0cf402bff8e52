package deliver

import (
	"context"
	"fmt"

	"surehook/internal/hook"
)

// loadNewest reads the newest events of the keys of the jobs, in one more read; without an
// endpoint with a key, no read.
func (d *Deliverer) loadNewest(ctx context.Context, jobs []*job, from Snapshot) (map[hook.NewestKey]hook.Newest, error) {
	wanted := make(map[hook.NewestKey]bool)
	var keys []hook.NewestKey
	for _, j := range jobs {
		if n, ok := from.newestOf(j.token); ok && !wanted[n.NewestKey] {
			wanted[n.NewestKey] = true
			keys = append(keys, n.NewestKey)
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	found, err := d.Store.Newest(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read the newest events of %d keys: %w", len(keys), err)
	}
	newest := make(map[hook.NewestKey]hook.Newest, len(found))
	for _, n := range found {
		newest[n.NewestKey] = n
	}
	return newest, nil
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
