package status

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/hook"
)

// maxLooked is the number of endpoints that a page of Attention looks at.
const maxLooked = page.MaxLimit

// Attention returns a page of the tenant's endpoints that need attention, in the order of their ids:
// without a cursor all of them, and with the cursor of a Trouble those of its cause.
//
// A page looks at maxLooked endpoints, and can be empty before the end of the list. It makes one
// request for the list of endpoints and two per 100, one for each endpoint that it looks at, for those
// of the cause at most one more and five for each shard, one per page of a count, and more for the
// forecast of a long backlog (see backlog.Count). Counting ends after countTimeout: what it cut off is
// in the page, and not Complete.
func (r *Reader) Attention(ctx context.Context, tenant hook.TenantID, p page.Request) (page.List[EndpointHarm], error) {
	scope := attentionScope(tenant)
	position, err := page.OpenCursor(scope, p.Cursor)
	if err != nil {
		return page.List[EndpointHarm]{}, err
	}
	of, after, _ := strings.Cut(position, "#")
	rest, err := r.Lists.Endpoints(ctx, tenant)
	if err != nil {
		return page.List[EndpointHarm]{}, fmt.Errorf("list endpoints of tenant %s: %w", tenant, err)
	}
	rest = slices.DeleteFunc(rest, func(e hook.Endpoint) bool { return string(e.ID) <= after })
	looked := min(len(rest), maxLooked)
	found, err := r.harmed(ctx, tenant, rest[:looked], of)
	if err != nil {
		return page.List[EndpointHarm]{}, err
	}
	l := page.List[EndpointHarm]{Data: found}
	last := looked - 1
	if len(found) > p.Limit {
		l.Data = found[:p.Limit]
		last = slices.IndexFunc(rest, func(e hook.Endpoint) bool { return e.ID == found[p.Limit-1].Endpoint.ID })
	}
	if last+1 < len(rest) {
		l.Next = page.NewCursor(scope, of+"#"+string(rest[last].ID))
	}
	return l, nil
}

// Cursor is the cursor of Attention for all endpoints of the Trouble.
func (t *Trouble) Cursor() string {
	return page.NewCursor(attentionScope(t.Endpoint.Tenant), causeOf(t.EndpointHarm).text()+"#")
}

func attentionScope(tenant hook.TenantID) string { return page.Scope("attention", string(tenant)) }

// text names the cause in a cursor.
func (c cause) text() string { return fmt.Sprintf("%v %v %d %v", c.state, c.class, c.status, c.reason) }

// harmed returns those of the tenant's endpoints that need attention, in their order; only those of
// the cause if it is not empty.
func (r *Reader) harmed(ctx context.Context, tenant hook.TenantID, endpoints []hook.Endpoint, of string) ([]EndpointHarm, error) {
	now := r.now()
	records, err := r.Circuits.CircuitsOf(ctx, idsOf(endpoints))
	if err != nil {
		return nil, fmt.Errorf("read circuits of tenant %s: %w", tenant, err)
	}
	parts := make([]part, len(endpoints))
	group, grouped := errgroup.WithContext(ctx)
	group.SetLimit(concurrentReads)
	for i, e := range endpoints {
		group.Go(func() (err error) {
			parts[i], err = r.judge(grouped, e, recordOf(records, tenant, e.ID), now)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("judge endpoints of tenant %s: %w", tenant, err)
	}
	parts = slices.DeleteFunc(parts, func(f part) bool { return of != "" && causeOf(f.harm).text() != of })
	_, err = r.counting(ctx, countTimeout, func(ctx context.Context, group *errgroup.Group) {
		for i := range parts {
			group.Go(func() error { return r.fill(ctx, &parts[i], now) })
		}
	})
	if err != nil {
		return nil, err
	}
	var found []EndpointHarm
	for i := range parts {
		if harm, needed := parts[i].attention(); needed || !harm.Complete {
			found = append(found, harm)
		}
	}
	return found, nil
}
