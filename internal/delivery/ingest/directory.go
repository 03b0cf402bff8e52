package ingest

import (
	"context"
	"fmt"

	lru "github.com/hashicorp/golang-lru/v2"

	"surehook/internal/hook"
)

// cachedTenants limits the tenants in the cache of a Directory.
const cachedTenants = 1000

// Directory lists the endpoints of tenants, with the tenants' limits. The cache holds
// a list under the tenant's version, and every call reads the version. So an event
// reaches every endpoint created before the post.
type Directory struct {
	store Store
	cache *lru.Cache[hook.TenantID, listing]
}

type listing struct {
	version   int64
	endpoints []hook.Endpoint
	limits    hook.TenantLimits
}

// NewDirectory returns a Directory of the store with an empty cache.
func NewDirectory(store Store) (*Directory, error) {
	cache, err := lru.New[hook.TenantID, listing](cachedTenants)
	if err != nil {
		return nil, fmt.Errorf("make endpoint cache: %w", err)
	}
	return &Directory{store: store, cache: cache}, nil
}

func (d *Directory) list(ctx context.Context, tenant hook.TenantID) (listing, error) {
	version, err := d.store.TenantVersion(ctx, tenant)
	if err != nil {
		return listing{}, fmt.Errorf("read version: %w", err)
	}
	if version == 0 {
		return listing{}, nil
	}
	if known, ok := d.cache.Get(tenant); ok && known.version == version {
		return known, nil
	}
	// The version is read before the endpoints and the limits, so the cached list is at
	// least as new as the version.
	endpoints, err := d.store.Endpoints(ctx, tenant)
	if err != nil {
		return listing{}, fmt.Errorf("read endpoints: %w", err)
	}
	limits, err := d.store.TenantLimits(ctx, tenant)
	if err != nil {
		return listing{}, fmt.Errorf("read limits: %w", err)
	}
	found := listing{version: version, endpoints: endpoints, limits: limits}
	d.cache.Add(tenant, found)
	return found, nil
}
