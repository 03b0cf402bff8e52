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
		return newListing(Listing{}), nil
	}
	if known, ok := d.cache.Get(tenant); ok {
		if known.version() == version {
			return known, nil
		}
		changed, err := d.change(ctx, tenant, known)
		if changed || err != nil {
			return known, err
		}
	}
	read, err := d.store.Listing(ctx, tenant)
	if err != nil {
		return nil, fmt.Errorf("read endpoints and limits: %w", err)
	}
	found := newListing(read)
	if !read.Torn {
		d.cache.Add(tenant, found, found.bytes())
	}
	return found, nil
}

// change brings the listing up to date, and reports whether it is.
func (d *Directory) change(ctx context.Context, tenant hook.TenantID, known *listing) (bool, error) {
	since := known.at()
	c, all, err := d.store.Changes(ctx, tenant, since, known.versionOf)
	if err != nil {
		return false, fmt.Errorf("read changes of endpoints and limits: %w", err)
	}
	if !all || !known.apply(since, c) {
		return false, nil
	}
	d.cache.Add(tenant, known, known.bytes())
	return true, nil
}
