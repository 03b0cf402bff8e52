package endpoint

import (
	"context"
	"fmt"

	"surehook.example/surehook/internal/hook"
)

// place checks that the tenant may have another endpoint at the host of e's URL. before is the
// stored URL, empty for a new endpoint. With a limit, the write of e requires that the tenant has
// not changed since, so that concurrent writes cannot exceed the limit together.
func (a *Admin) place(ctx context.Context, e *hook.Endpoint, before string) error {
	host := hook.Host(e.URL)
	if a.PerHost == 0 || e.Destination.On() || hook.Host(before) == host {
		return nil
	}
	version, err := a.Store.TenantVersion(ctx, e.Tenant)
	if err != nil {
		return fmt.Errorf("read version of tenant %s: %w", e.Tenant, err)
	}
	all, err := a.Store.Endpoints(ctx, e.Tenant)
	if err != nil {
		return fmt.Errorf("count endpoints of tenant %s: %w", e.Tenant, err)
	}
	count := 0
	for _, other := range all {
		if hook.Host(other.URL) == host && other.ID != e.ID {
			count++
		}
	}
	if count >= a.PerHost {
		return fmt.Errorf("place endpoint %s: %w", e.ID, hook.TooManyForHost(a.PerHost))
	}
	e.TenantVersion = &version
	return nil
}

// placeTries limits the tries of creating an endpoint with a limit per host, of which each reads all
// endpoints of the tenant. They are few, because a uid that is taken is a conflict, too.
const placeTries = 3
