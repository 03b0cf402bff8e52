package status

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/hook"
)

// maxLooked is the number of endpoints that a page of Attention looks at.
const maxLooked = page.MaxLimit

// Attention returns a page of the tenant's endpoints that need attention, in the order of their ids:
// without a cursor all of them, and with the cursor of a Trouble those of its cause.
//
// A page looks at maxLooked endpoints, and can be empty before the end of the list. It makes three
// requests, one for each endpoint that it looks at, and for those of the cause at most one more and
// three for each shard (see backlog.LookAt).
func (r *Reader) Attention(ctx context.Context, tenant hook.TenantID, p page.Request) (page.List[EndpointHarm], error) {
	return page.After(attentionScope(tenant), p, func(position string) (found []EndpointHarm, next string, err error) {
		of, after, _ := strings.Cut(position, "#")
		ids, err := r.Store.EndpointIDs(ctx, tenant, hook.EndpointID(after), maxLooked+1)
		if err != nil {
			return nil, "", fmt.Errorf("list endpoints of tenant %s: %w", tenant, err)
		}
		endpoints, err := r.Store.EndpointsOf(ctx, tenant, ids[:min(len(ids), maxLooked)])
		if err != nil {
			return nil, "", fmt.Errorf("read endpoints of tenant %s: %w", tenant, err)
		}
		if found, err = r.harmed(ctx, tenant, endpoints, of); err != nil {
			return nil, "", err
		}
		if len(ids) > maxLooked {
			next = of + "#" + string(ids[maxLooked-1])
		}
		if len(found) > p.Limit {
			found, next = page.First(found, p.Limit, func(e EndpointHarm) string { return of + "#" + string(e.ID) })
		}
		return found, next, nil
	})
}

func attentionScope(tenant hook.TenantID) string { return page.Scope("attention", string(tenant)) }

// text names the cause in a cursor.
func (c cause) text() string { return fmt.Sprintf("%v %v %d %v", c.state, c.class, c.status, c.reason) }

// harmed returns those of the tenant's endpoints that need attention, in their order; only those of
// the cause if it is not empty.
func (r *Reader) harmed(ctx context.Context, tenant hook.TenantID, endpoints []hook.Endpoint, of string) ([]EndpointHarm, error) {
	now := r.now()
	records, err := r.Store.CircuitsOf(ctx, idsOf(endpoints))
	if err != nil {
		return nil, fmt.Errorf("read circuits of tenant %s: %w", tenant, err)
	}
	parts := make([]part, len(endpoints))
	err = each(ctx, len(endpoints), concurrentReads, func(ctx context.Context, i int) (err error) {
		parts[i], _, err = r.judge(ctx, endpoints[i], recordOf(records, tenant, endpoints[i].ID), now)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("judge endpoints of tenant %s: %w", tenant, err)
	}
	parts = slices.DeleteFunc(parts, func(f part) bool { return of != "" && causeOf(f.harm).text() != of })
	err = each(ctx, len(parts), concurrentReads, func(ctx context.Context, i int) error { return r.fill(ctx, &parts[i], now) })
	if err != nil {
		return nil, err
	}
	var found []EndpointHarm
	for i := range parts {
		if parts[i].attention() {
			found = append(found, parts[i].harm)
		}
	}
	return found, nil
}
