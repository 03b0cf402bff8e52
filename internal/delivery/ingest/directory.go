package ingest

import (
	"context"
	"fmt"

	"surehook.example/surehook/internal/cache"
	"surehook.example/surehook/internal/hook"
)

// MaxDirectory bounds the listings that a Directory keeps, in bytes.
const MaxDirectory = 40 << 20

// Directory lists the endpoints of tenants, with the tenants' limits. It caches a listing with
// the tenant's version, and reads the version in every call. So an event reaches every endpoint
// that was created before it was posted. After a change it reads what has changed alone.
type Directory struct {
	store DirectoryStore
	cache *cache.Cache[hook.TenantID, *listing]
}

// NewDirectory returns a Directory of the store with an empty cache.
func NewDirectory(store DirectoryStore) *Directory {
	return &Directory{store: store, cache: cache.New[hook.TenantID, *listing](MaxDirectory, nil)}
}

// list returns the listing of the tenant. It does not cache a torn listing: the change under way
// is not acknowledged yet, so this call may miss it, but a later one may not.
func (d *Directory) list(ctx context.Context, tenant hook.TenantID) (*listing, error) {
	version, err := d.store.TenantVersion(ctx, tenant)
	if err != nil {
		return nil, fmt.Errorf("read version: %w", err)
	}
	if version == 0 {
		return &listing{}, nil
	}
	if known, ok := d.cache.Get(tenant); ok {
		if known.mark.Version == version {
			return known, nil
		}
		c, all, err := d.store.Changes(ctx, tenant, known.mark, known.versionOf)
		if err != nil {
			return nil, fmt.Errorf("read changes of endpoints and limits: %w", err)
		}
		if all {
			changed := known.with(c)
			d.keep(tenant, changed)
			return changed, nil
		}
	}
	read, err := d.store.Listing(ctx, tenant)
	if err != nil {
		return nil, fmt.Errorf("read endpoints and limits: %w", err)
	}
	found := new(listing).with(Changes{Mark: read.Mark, Limits: read.Limits, Endpoints: read.Endpoints})
	if !read.Torn {
		d.keep(tenant, found)
	}
	return found, nil
}

func (d *Directory) keep(tenant hook.TenantID, l *listing) { d.cache.Add(tenant, l, l.bytes) }
