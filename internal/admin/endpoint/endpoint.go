package endpoint

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/sign"
)

// Get returns the tenant's endpoint with ref as the id or the uid; CodeNotFound if none exists.
func (a *Admin) Get(ctx context.Context, tenant hook.TenantID, ref string) (hook.Endpoint, error) {
	var (
		e   hook.Endpoint
		err error
	)
	if id, notID := hook.ParseEndpointID(ref); notID == nil {
		e, err = a.Store.Endpoint(ctx, tenant, id)
	} else if hook.ValidUID(ref) {
		e, err = a.Store.EndpointByUID(ctx, tenant, ref)
	} else {
		return hook.Endpoint{}, hook.NotFound("endpoint")
	}
	if err != nil {
		return hook.Endpoint{}, missing(fmt.Errorf("read endpoint %s: %w", ref, err))
	}
	return e, nil
}

// List returns a page of the tenant's endpoints, in the order of their ids.
func (a *Admin) List(ctx context.Context, tenant hook.TenantID, p page.Request) (page.List[hook.Endpoint], error) {
	all, err := a.Store.Endpoints(ctx, tenant)
	if err != nil {
		return page.List[hook.Endpoint]{}, fmt.Errorf("list endpoints of tenant %s: %w", tenant, err)
	}
	return page.Of(all, page.Scope("endpoints", string(tenant)), p, func(e hook.Endpoint) string { return string(e.ID) })
}

// concurrentReads bounds the concurrent requests of a call.
const concurrentReads = 8

// ListOf returns a page of those of the tenant's endpoints with the ids that exist, in the order of
// their ids. It reads one item per id.
func (a *Admin) ListOf(ctx context.Context, tenant hook.TenantID, ids []hook.EndpointID, p page.Request) (page.List[hook.Endpoint], error) {
	found := make([]hook.Endpoint, len(ids))
	group, grouped := errgroup.WithContext(ctx)
	group.SetLimit(concurrentReads)
	for i, id := range ids {
		group.Go(func() error {
			e, err := a.Store.Endpoint(grouped, tenant, id)
			if err != nil && hook.CodeOf(err) != hook.CodeNotFound {
				return fmt.Errorf("read endpoint %s: %w", id, err)
			}
			found[i] = e
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return page.List[hook.Endpoint]{}, err
	}
	found = slices.DeleteFunc(found, func(e hook.Endpoint) bool { return e.ID == "" })
	return page.Of(found, page.Scope("endpoints", string(tenant), "of"), p, func(e hook.Endpoint) string { return string(e.ID) })
}

// ListSlow returns a page of the tenant's endpoints, in the order of their ids:
// with slow, the endpoints found slow by the last review; without, all others.
func (a *Admin) ListSlow(ctx context.Context, tenant hook.TenantID, slow bool, p page.Request) (page.List[hook.Endpoint], error) {
	all, err := a.Store.Endpoints(ctx, tenant)
	if err != nil {
		return page.List[hook.Endpoint]{}, fmt.Errorf("list endpoints of tenant %s: %w", tenant, err)
	}
	ids := make([]hook.EndpointID, len(all))
	for i, e := range all {
		ids[i] = e.ID
	}
	records, err := a.Circuits.CircuitsOf(ctx, ids)
	if err != nil {
		return page.List[hook.Endpoint]{}, fmt.Errorf("read circuits of tenant %s: %w", tenant, err)
	}
	all = slices.DeleteFunc(all, func(e hook.Endpoint) bool { return records[e.ID].Review.Slow != slow })
	list := page.Scope("endpoints", string(tenant), "slow", strconv.FormatBool(slow))
	return page.Of(all, list, p, func(e hook.Endpoint) string { return string(e.ID) })
}

// ListSignedBy returns a page of the tenant's endpoints whose requests have the signers now, in the
// order of their ids.
func (a *Admin) ListSignedBy(ctx context.Context, tenant hook.TenantID, by sign.Signers, p page.Request) (page.List[hook.Endpoint], error) {
	all, err := a.Store.Endpoints(ctx, tenant)
	if err != nil {
		return page.List[hook.Endpoint]{}, fmt.Errorf("list endpoints of tenant %s: %w", tenant, err)
	}
	now := a.now()
	all = slices.DeleteFunc(all, func(e hook.Endpoint) bool { return sign.SignedBy(&e, now) != by })
	return page.Of(all, page.Scope("endpoints", string(tenant), "signed by", string(by)), p, func(e hook.Endpoint) string { return string(e.ID) })
}

// missing replaces CodeNotFound of the store by the error for callers. An unknown endpoint and
// one of another tenant look the same. Other errors stay unchanged.
func missing(err error) error {
	if hook.CodeOf(err) == hook.CodeNotFound {
		return hook.NotFound("endpoint")
	}
	return err
}
