package status

import (
	"context"
	"fmt"
	"slices"
	"time"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/merge"
)

// DeliveryFilter selects deliveries. The zero value of a field selects all.
type DeliveryFilter struct {
	Endpoint       string // id or uid; the id of a deleted endpoint is allowed
	State          hook.State
	Type           string    // of the event
	Status         string    // class of the last attempt: 2xx to 5xx, or none for no response or no attempt
	Failed         bool      // only those with a failed attempt
	Ordered        bool      // only those with a number
	IdempotencyKey string    // of the event
	Since          time.Time // inclusive
	Until          time.Time // exclusive
}

// classOf returns the class of the status; 0 means no response.
func classOf(status int) string {
	if status == 0 {
		return "none"
	}
	return fmt.Sprintf("%dxx", status/100)
}

// selects reports whether the filter selects the recorded delivery, without regard to
// the endpoint and the times.
func (f DeliveryFilter) selects(d hook.Delivery) bool {
	return (f.State == 0 || d.State == f.State) && (f.Type == "" || d.EventType == f.Type) &&
		(f.Status == "" || classOf(d.Last.Status) == f.Status) && (!f.Failed || failedOnce(d)) && (!f.Ordered || d.Number > 0)
}

// failedOnce reports whether an attempt of the delivery failed: all attempts but the last one
// failed.
func failedOnce(d hook.Delivery) bool {
	return d.Attempts > 1 || d.Attempts == 1 && d.Last.Class != hook.ClassDelivered
}

// scope names the list, for cursors.
func (f DeliveryFilter) scope(tenant hook.TenantID, endpoint hook.EndpointID) string {
	state := ""
	if f.State != 0 {
		state = f.State.String()
	}
	parts := []string{"deliveries", string(tenant), string(endpoint), state, f.Type, f.Status, f.IdempotencyKey, bound(f.Since), bound(f.Until)}
	if f.Failed {
		parts = append(parts, "failed")
	}
	if f.Ordered {
		parts = append(parts, "ordered")
	}
	return page.Scope(parts...)
}

// bound returns the text of a bound of times in a scope.
func bound(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// Deliveries returns a page of the tenant's recorded deliveries, newest first. Without
// a state, the time of a delivery is the acceptance of the event; with a state,
// CreatedAt, and the two differ for replays only. Without an endpoint, the list holds
// the deliveries of the tenant's endpoints, and not of deleted endpoints.
//
// A page makes at most one request for each shard of the endpoints (two for state
// delivered), one per 100 endpoints, and moreRequests. A page that needs more ends
// early, even empty, with a cursor that goes on there.
//
// No list has queued deliveries: most have no record.
//
// Errors: CodeInvalid for StateQueued; for
// endpoints with more than maxParts shards together, half of maxParts for state delivered; and for a cursor of another list.
// CodeNotFound for an unknown endpoint, and for a deleted endpoint without deliveries.
func (r *Reader) Deliveries(ctx context.Context, tenant hook.TenantID, f DeliveryFilter, p page.Request) (page.List[hook.Delivery], error) {
	if f.IdempotencyKey != "" {
		return r.keyedDeliveries(ctx, tenant, f, p)
	}
	if f.State == hook.StateQueued {
		return page.List[hook.Delivery]{}, hook.Invalid(hook.FieldError{
			Field: "state", Message: "queued deliveries are not listed; look at their event's deliveries",
		})
	}
	targets, endpoint, err := r.listed(ctx, tenant, f.Endpoint)
	if err != nil {
		return page.List[hook.Delivery]{}, err
	}
	return afterPosition(f.scope(tenant, endpoint), p, func(after *Position) ([]hook.Delivery, *Position, error) {
		parts := f.parts(targets)
		if len(parts) > maxParts {
			return nil, nil, hook.Invalid(hook.FieldError{
				Field: "endpoint", Message: fmt.Sprintf("is needed: the list would look at %d lists of shards, and at most %d are merged", len(parts), maxParts),
			})
		}
		narrow := f.Type != "" || f.Status != "" || f.Failed || f.Ordered || f.State == hook.StateDelivered
		// Twice the part's share of the page and a few rows more, but at most the page, one more row, and the
		// row at which the page begins.
		rows := looksFor(min(2*p.Limit/max(len(parts), 1)+4, p.Limit+2), 100, narrow)
		m := merged(r.rowsOf(parts), Span{Since: f.Since, Until: f.Until}, after, rows)
		l := deliveryPage{Reader: r, tenant: tenant, filter: f, merge: m}
		data, next, err := assembled(m, p.Limit, f.position, func(n int) (taken[hook.Delivery], error) { return l.take(ctx, n) })
		if err != nil {
			return nil, nil, fmt.Errorf("list deliveries of tenant %s: %w", tenant, err)
		}
		return data, next, nil
	})
}

// parts returns the parts of the list. Delivered deliveries of the first generation
// have no row in the index, so the list reads them from the deliveries of all states.
func (f DeliveryFilter) parts(targets []hook.Target) []Part {
	var parts []Part
	for _, target := range targets {
		for shard := range target.Shards {
			parts = append(parts, Part{Endpoint: target.Endpoint, Shard: shard, State: f.State})
			if f.State == hook.StateDelivered {
				parts = append(parts, Part{Endpoint: target.Endpoint, Shard: shard})
			}
		}
	}
	return parts
}

// listed returns the targets to list: of one endpoint by id or uid, or of all endpoints
// of the tenant.
func (r *Reader) listed(ctx context.Context, tenant hook.TenantID, ref string) (targets []hook.Target, id hook.EndpointID, err error) {
	if ref == "" {
		ids, err := r.Store.EndpointIDs(ctx, tenant, "", maxParts+1)
		if err != nil {
			return nil, "", fmt.Errorf("find endpoints: %w", err)
		}
		if len(ids) > maxParts {
			return nil, "", hook.Invalid(hook.FieldError{
				Field: "endpoint", Message: fmt.Sprintf("is needed: the tenant has more than %d endpoints, and at most %d lists of shards are merged", maxParts, maxParts),
			})
		}
		all, err := r.Store.EndpointsOf(ctx, tenant, ids)
		if err != nil {
			return nil, "", fmt.Errorf("read endpoints: %w", err)
		}
		for _, e := range all {
			targets = append(targets, e.Widest())
		}
		return targets, "", nil
	}
	e, err := r.Endpoints.Get(ctx, tenant, ref)
	if err == nil {
		return []hook.Target{e.Widest()}, e.ID, nil
	}
	id, badID := hook.ParseEndpointID(ref)
	if hook.CodeOf(err) != hook.CodeNotFound || badID != nil {
		return nil, "", fmt.Errorf("find endpoint: %w", err)
	}
	target := hook.DeletedTarget(id)
	owned, ownErr := r.owned(ctx, tenant, target)
	switch {
	case ownErr != nil:
		return nil, "", ownErr
	case !owned:
		return nil, "", fmt.Errorf("find endpoint: %w", err)
	}
	return []hook.Target{target}, id, nil
}

// owned reports whether the deleted endpoint has deliveries of the tenant. All
// deliveries of an endpoint belong to one tenant, and the key does not name the tenant.
func (r *Reader) owned(ctx context.Context, tenant hook.TenantID, target hook.Target) (bool, error) {
	for shard := range target.Shards {
		rows, _, err := r.Store.DeliveryRows(ctx, Part{Endpoint: target.Endpoint, Shard: shard}, Span{}, 1)
		if err != nil {
			return false, fmt.Errorf("find deliveries of endpoint %s: %w", target.Endpoint, err)
		}
		if len(rows) > 0 {
			return rows[0].Delivery.Tenant == tenant, nil
		}
	}
	return false, nil
}

// keyedDeliveries returns the selected deliveries of the event with the idempotency
// key, queued deliveries included.
func (r *Reader) keyedDeliveries(ctx context.Context, tenant hook.TenantID, f DeliveryFilter, p page.Request) (page.List[hook.Delivery], error) {
	endpoint := hook.EndpointID(f.Endpoint)
	if f.Endpoint != "" {
		_, id, err := r.listed(ctx, tenant, f.Endpoint)
		if err != nil {
			return page.List[hook.Delivery]{}, err
		}
		endpoint = id
	}
	all, err := r.eventDeliveries(ctx, tenant, hook.KeyedEventID(tenant, f.IdempotencyKey))
	if err != nil && hook.CodeOf(err) != hook.CodeNotFound {
		return page.List[hook.Delivery]{}, err
	}
	return afterPosition(f.scope(tenant, endpoint), p, func(after *Position) ([]hook.Delivery, *Position, error) {
		all = slices.DeleteFunc(all, func(d hook.Delivery) bool {
			position := f.position(d)
			return d.Unreadable() || !f.selects(d) || endpoint != "" && d.ID.Endpoint != endpoint || r.expired(d.ExpiresAt) || after != nil && position.Compare(*after) <= 0 ||
				position.Time().Before(f.Since) || !f.Until.IsZero() && !position.Time().Before(f.Until)
		})
		slices.SortFunc(all, func(a, b hook.Delivery) int { return f.position(a).Compare(f.position(b)) })
		if len(all) <= p.Limit {
			return all, nil, nil
		}
		return all[:p.Limit], new(f.position(all[p.Limit-1])), nil
	})
}

// position returns the position of the delivery in the list.
func (f DeliveryFilter) position(d hook.Delivery) Position {
	if f.State == 0 {
		return Position{At: d.AcceptedAt, DeliveryID: d.ID}
	}
	return Position{At: d.CreatedAt.UnixMilli(), DeliveryID: d.ID}
}

// deliveryPage reads a page of deliveries.
type deliveryPage struct {
	*Reader

	tenant hook.TenantID
	filter DeliveryFilter
	merge  *merge.List[Row]
}

// take takes those of the next n rows that the list holds.
func (l deliveryPage) take(ctx context.Context, n int) (found taken[hook.Delivery], err error) {
	rows, err := l.merge.Take(ctx, n)
	if err != nil {
		return found, err
	}
	records, err := l.records(ctx, rows)
	if err != nil {
		return found, err
	}
	for i, d := range records {
		if found.last = rows[i].Position; l.lists(rows[i], d) {
			found.items = append(found.items, d)
		}
	}
	found.short = len(rows) < n
	return found, nil
}

// records returns the deliveries of the rows, in order. The zero Delivery stands for a
// missing record. Rows of an index hold the position only: one request reads the records.
func (l deliveryPage) records(ctx context.Context, rows []Row) ([]hook.Delivery, error) {
	var refs []hook.DeliveryRef
	for _, row := range rows {
		if row.Delivery.Version == 0 {
			refs = append(refs, row.Delivery.Ref())
		}
	}
	l.merge.Left -= (len(refs) + 99) / 100
	found, err := l.Store.DeliveriesByRef(ctx, refs)
	if err != nil {
		return nil, fmt.Errorf("read %d deliveries: %w", len(refs), err)
	}
	records := make([]hook.Delivery, len(rows))
	for i, row := range rows {
		if records[i] = row.Delivery; row.Delivery.Version == 0 {
			records[i] = found[row.Delivery.Ref()]
		}
	}
	return records, nil
}

// lists reports whether the list holds the record at the row. A row of an index may be
// stale: the record is gone, or has another state.
func (l deliveryPage) lists(row Row, d hook.Delivery) bool {
	if d.Version == 0 || d.State == hook.StateQueued || d.Tenant != l.tenant || l.expired(d.ExpiresAt) || !l.filter.selects(d) {
		return false
	}
	return l.filter.State == 0 || d.CreatedAt.UnixMilli() == row.At
}
