package ingest

import (
	"context"
	"fmt"

	lru "github.com/hashicorp/golang-lru/v2"

	"surehook/internal/hook"
)

// cachedTenants bounds the tenants whose endpoints a Directory remembers.
const cachedTenants = 1000

// Directory finds a tenant's endpoints. It remembers them under the tenant's
// version, which it reads anew every time: an endpoint that exists when an
// event is posted gets it.
type Directory struct {
	store Store
	cache *lru.Cache[hook.TenantID, listing]
}

type listing struct {
	version   int64
	endpoints []hook.Endpoint
}

// NewDirectory returns an empty Directory over the store.
func NewDirectory(store Store) (*Directory, error) {
	cache, err := lru.New[hook.TenantID, listing](cachedTenants)
	if err != nil {
		return nil, fmt.Errorf("make endpoint cache: %w", err)
	}
	return &Directory{store: store, cache: cache}, nil
}

func (d *Directory) endpoints(ctx context.Context, tenant hook.TenantID) ([]hook.Endpoint, error) {
	version, err := d.store.TenantVersion(ctx, tenant)
	if err != nil {
		return nil, fmt.Errorf("read version: %w", err)
	}
	if version == 0 {
		return nil, nil
	}
	if known, ok := d.cache.Get(tenant); ok && known.version == version {
		return known.endpoints, nil
	}
	// The version is read before the endpoints, so what is remembered under it
	// is never older than it.
	endpoints, err := d.store.Endpoints(ctx, tenant)
	if err != nil {
		return nil, fmt.Errorf("read endpoints: %w", err)
	}
	d.cache.Add(tenant, listing{version: version, endpoints: endpoints})
	return endpoints, nil
}
