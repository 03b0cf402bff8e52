package ingest

import (
	"context"
	"fmt"
	"sync"

	"surehook.example/surehook/internal/cache"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/filter"
)

// MaxDirectory bounds the listings that a Directory keeps, in bytes.
const MaxDirectory = 40 << 20

// Directory lists the endpoints of tenants, with the tenants' limits. It caches a listing with
// the tenant's version, and reads the version in every call. So an event reaches every endpoint
// that was created before it was posted.
type Directory struct {
	store Store
	cache *cache.Cache[hook.TenantID, listing]
}

type listing struct {
	Listing

	filters map[hook.EndpointID]*filter.Filter // of the endpoints with a filter
}

// NewDirectory returns a Directory of the store with an empty cache.
func NewDirectory(store Store) *Directory {
	return &Directory{store: store, cache: cache.New[hook.TenantID, listing](MaxDirectory, nil)}
}

// list returns the listing of the tenant. It does not cache a torn listing: the change under way
// is not acknowledged yet, so this call may miss it, but a later one may not.
func (d *Directory) list(ctx context.Context, tenant hook.TenantID) (listing, error) {
	version, err := d.store.TenantVersion(ctx, tenant)
	if err != nil {
		return listing{}, fmt.Errorf("read version: %w", err)
	}
	if version == 0 {
		return listing{}, nil
	}
	if known, ok := d.cache.Get(tenant); ok && known.Version == version {
		return known, nil
	}
	read, err := d.store.Listing(ctx, tenant)
	if err != nil {
		return listing{}, fmt.Errorf("read endpoints and limits: %w", err)
	}
	found := listing{Listing: read, filters: parseFilters(read.Endpoints)}
	for i := range found.Endpoints {
		found.Endpoints[i].Filter = nil // parsed
	}
	if !read.Torn {
		d.cache.Add(tenant, found, found.bytes())
	}
	return found, nil
}

// bytes returns about how much memory the listing takes, and not less.
func (l listing) bytes() int {
	const entry = 100 // of the map of filters
	n := 0
	for i := range l.Endpoints {
		n += l.Endpoints[i].bytes()
	}
	for _, f := range l.filters {
		n += f.Bytes() + entry
	}
	return n
}

// parseFilters returns the filters of the endpoints that have one. After a rollback, an
// endpoint may have a filter that only a later build can parse. It then gets every event of its
// types: an unwanted delivery does less harm than a missing one.
func parseFilters(endpoints []Subscriber) map[hook.EndpointID]*filter.Filter {
	filters := make(map[hook.EndpointID]*filter.Filter)
	for _, e := range endpoints {
		if len(e.Filter) == 0 {
			continue
		}
		if f, wrong := filter.Parse(e.Filter, ""); len(wrong) == 0 {
			filters[e.ID] = f
		}
	}
	return filters
}

// targets returns the endpoints that subscribe to the type and whose filter, if any, matches
// the event. It returns an error if no steps are left. The payload is decoded only if there is
// a filter.
func (l listing) targets(eventType string, payload []byte, left *int) ([]hook.Target, error) {
	document := sync.OnceValue(func() filter.Document {
		d := filter.NewDocument(eventType, payload)
		*left -= d.Steps
		return d
	})
	var targets []hook.Target
	for _, e := range l.Endpoints {
		if !hook.Subscribes(e.EventTypes, eventType) {
			continue
		}
		if f, ok := l.filters[e.ID]; ok {
			if *left <= 0 {
				return nil, errFilters()
			}
			matches, steps := f.Matches(document())
			if *left -= steps; !matches {
				continue
			}
		}
		targets = append(targets, hook.Endpoint{ID: e.ID, Shards: e.Shards}.Target())
	}
	return targets, nil
}
