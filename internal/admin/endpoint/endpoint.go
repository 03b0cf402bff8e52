package endpoint

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/sign"
)

// Get returns the tenant's endpoint with ref as the id or the uid; CodeNotFound if none exists.
func (a *Admin) Get(ctx context.Context, tenant hook.TenantID, ref string) (hook.Endpoint, error) {
	switch e, err := replay.FindEndpoint(ctx, a.Store, tenant, ref); {
	case err == nil:
		return e, nil
	case hook.CodeOf(err) == hook.CodeNotFound: // an unknown endpoint and one of another tenant look the same
		return hook.Endpoint{}, hook.NotFound("endpoint")
	default:
		return hook.Endpoint{}, fmt.Errorf("read endpoint %s: %w", ref, err)
	}
}

// maxLooks bounds the reads of page.MaxLimit endpoints each for one page of a filtered list.
const maxLooks = 10

// List returns a page of the tenant's endpoints, in the order of their ids. It makes two requests.
func (a *Admin) List(ctx context.Context, tenant hook.TenantID, p page.Request) (page.List[hook.Endpoint], error) {
	return a.list(ctx, tenant, page.Scope("endpoints", string(tenant)), p, p.Limit, func(looked []hook.Endpoint) ([]hook.Endpoint, error) { return looked, nil })
}

// ListOf returns a page of those of the tenant's endpoints with the ids that exist, in the order of
// their ids. It makes one request per 100 ids.
func (a *Admin) ListOf(ctx context.Context, tenant hook.TenantID, ids []hook.EndpointID, p page.Request) (page.List[hook.Endpoint], error) {
	found, err := a.Store.EndpointsOf(ctx, tenant, ids)
	if err != nil {
		return page.List[hook.Endpoint]{}, fmt.Errorf("read endpoints of tenant %s: %w", tenant, err)
	}
	return page.Of(found, page.Scope("endpoints", string(tenant), "of"), p, idOf)
}

// ListSlow returns a page of the tenant's endpoints, in the order of their ids: with slow, the
// endpoints found slow by the last review; without, all others. A page looks at 1,000 endpoints at most, in
// 30 requests, so it can be short or empty before the end.
func (a *Admin) ListSlow(ctx context.Context, tenant hook.TenantID, slow bool, p page.Request) (page.List[hook.Endpoint], error) {
	scope := page.Scope("endpoints", string(tenant), "slow", strconv.FormatBool(slow))
	return a.list(ctx, tenant, scope, p, page.MaxLimit, func(looked []hook.Endpoint) ([]hook.Endpoint, error) {
		records, err := a.Store.CircuitsOf(ctx, IDsOf(looked))
		return slices.DeleteFunc(looked, func(e hook.Endpoint) bool { return records[e.ID].Review.Slow != slow }), err
	})
}

// ListSignedBy returns a page of the tenant's endpoints whose requests have the signers now, in the
// order of their ids. It looks at as many endpoints as ListSlow.
func (a *Admin) ListSignedBy(ctx context.Context, tenant hook.TenantID, by sign.Signers, p page.Request) (page.List[hook.Endpoint], error) {
	now := a.now()
	return a.list(ctx, tenant, page.Scope("endpoints", string(tenant), "signed by", string(by)), p, page.MaxLimit, func(looked []hook.Endpoint) ([]hook.Endpoint, error) {
		return slices.DeleteFunc(looked, func(e hook.Endpoint) bool { return sign.SignedBy(&e, now) != by }), nil
	})
}

// list reads size endpoints at a time until the page has those that keep returns, or after maxLooks.
func (a *Admin) list(
	ctx context.Context, tenant hook.TenantID, scope string, p page.Request, size int, keep func(looked []hook.Endpoint) ([]hook.Endpoint, error),
) (page.List[hook.Endpoint], error) {
	return page.After(scope, p, func(after string) (data []hook.Endpoint, next string, err error) {
		for range maxLooks {
			ids, err := a.Store.EndpointIDs(ctx, tenant, hook.EndpointID(after), size+1)
			if err != nil {
				return nil, "", fmt.Errorf("list endpoints of tenant %s: %w", tenant, err)
			}
			looked, err := a.Store.EndpointsOf(ctx, tenant, ids[:min(size, len(ids))])
			if err == nil {
				looked, err = keep(looked)
			}
			if err != nil {
				return nil, "", fmt.Errorf("read endpoints of tenant %s: %w", tenant, err)
			}
			data = append(data, looked...)
			if len(data) > p.Limit || len(ids) <= size {
				data, next = page.First(data, p.Limit, idOf)
				return data, next, nil
			}
			if after = string(ids[size-1]); len(data) == p.Limit {
				break
			}
		}
		return data, after, nil
	})
}

// IDsOf returns the ids of the endpoints.
func IDsOf(endpoints []hook.Endpoint) []hook.EndpointID {
	ids := make([]hook.EndpointID, len(endpoints))
	for i, e := range endpoints {
		ids[i] = e.ID
	}
	return ids
}

func idOf(e hook.Endpoint) string { return string(e.ID) }

// Notifications returns a page of the notifications about the tenant's endpoint
// with ref as the id or the uid, newest first.
func (a *Admin) Notifications(ctx context.Context, tenant hook.TenantID, ref string, p page.Request) (page.List[hook.Notification], error) {
	e, err := a.Get(ctx, tenant, ref)
	if err != nil {
		return page.List[hook.Notification]{}, err
	}
	return page.After(page.Scope("decisions", string(tenant), string(e.ID)), p, func(after string) ([]hook.Notification, string, error) {
		return a.Store.Notifications(ctx, e.ID, after, p.Limit)
	})
}
