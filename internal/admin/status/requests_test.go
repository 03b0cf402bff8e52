package status_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/admin/search"
	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory/table"
	"surehook.example/surehook/internal/rule/admission"
)

// TestReader_Pipeline_requests counts what the contract says of an empty stack: 400 requests for the endpoints of 25 hours, and
// the open circuits.
func TestReader_Pipeline_requests(t *testing.T) {
	t.Parallel()

	b := setup(t)
	var n atomic.Int64
	b.store.Table.Around = func(_ context.Context, _ *table.Call, do func() error) error {
		n.Add(1)
		return do()
	}
	if _, err := b.PipelineStatistics(t.Context(), status.StatsQuery{}); err != nil || n.Load() != 400 {
		t.Errorf("the statistics of all tenants make %d requests, %v; want 400", n.Load(), err)
	}
	n.Store(0)
	if _, err := b.Pipeline(t.Context()); err != nil || n.Load() != 416 {
		t.Errorf("the health of all tenants makes %d requests, %v; want 416", n.Load(), err)
	}
}

// TestReads_of10000 counts what the contract says of a tenant with the most endpoints. The last one has an open circuit.
func TestReads_of10000(t *testing.T) {
	t.Parallel()

	b := setup(t)
	if err := b.store.SetTenantLimits(t.Context(), tenant, hook.TenantLimits{Endpoints: hook.MaxEndpointsPerTenant}); err != nil {
		t.Fatal(err)
	}
	var last hook.Endpoint
	for n := range hook.MaxEndpointsPerTenant {
		last = hook.Endpoint{
			ID: hook.EndpointID(fmt.Sprintf("ep_%016d", n)), Tenant: tenant, UID: fmt.Sprintf("e%d", n), URL: fmt.Sprintf("https://example.com/%d", n),
			EventTypes: []string{"*"}, Status: hook.StatusActive, CreatedAt: b.now,
		}
		if err := b.store.CreateEndpoint(t.Context(), last); err != nil {
			t.Fatal(err)
		}
	}
	b.keepOpen(t, last, func(r *admission.Record) { r.AttendAt = b.now })
	waiting := make([]hook.Delivery, 2)
	for i := range waiting {
		waiting[i] = b.wait(t, last, hook.StateRetrying, hook.ReasonNone, b.now)
	}
	names := &search.Searcher{Store: b.store, Now: func() time.Time { return b.now }}
	most := page.Request{Limit: page.MaxLimit}
	var n atomic.Int64
	b.store.Table.Around = func(_ context.Context, _ *table.Call, do func() error) error {
		n.Add(1)
		return do()
	}
	for _, tt := range []struct {
		name string
		want int64
		read func() (ok bool, err error)
	}{
		{"a page of endpoints", 2, func() (bool, error) {
			l, err := b.admin.List(t.Context(), tenant, most)
			return len(l.Data) == page.MaxLimit && l.Next != "", err
		}},
		{"endpoints by ids", 1, func() (bool, error) {
			l, err := b.admin.ListOf(t.Context(), tenant, []hook.EndpointID{last.ID, "ep_0000000000000000"}, most)
			return len(l.Data) == 2, err
		}},
		{"a page of slow endpoints", 30, func() (bool, error) {
			l, err := b.admin.ListSlow(t.Context(), tenant, true, most)
			return len(l.Data) == 0 && l.Next != "", err
		}},
		{"attention", 3 + 100*(1+3), func() (bool, error) { // hours; retrying, parked and dead ones
			l, err := b.Attention(t.Context(), tenant, most)
			return len(l.Data) == 0 && l.Next != "", err
		}},
		{"health", 4 + 17 + 5 + 5 + 500 + 3, func() (bool, error) { // ids, circuits, endpoints, circuits, hours, what waits
			h, err := b.TenantHealth(t.Context(), tenant, "")
			return h.Matching == hook.MaxEndpointsPerTenant && h.Endpoints[0].ID == last.ID && h.Waiting.Retrying == 2, err
		}},
		{"health with a search", 4 + 100 + 1 + 1 + 1 + 3, func() (bool, error) { // ids, endpoints, the matching one again, its circuit, hours, what waits
			h, err := b.TenantHealth(t.Context(), tenant, last.URL)
			return h.Matching == 1 && h.Waiting.Retrying == 2, err
		}},
		{"a search", 4 + 4 + 100, func() (bool, error) {
			found, err := names.Search(t.Context(), search.Query{Text: "9999", Tenant: tenant})
			return len(found) == 1, err
		}},
		{"what deliveries wait for", 1, func() (bool, error) {
			o, err := b.Outlooks(t.Context(), tenant, waiting)
			return len(o) == 2, err
		}},
		{"deliveries of all endpoints", 4, func() (bool, error) {
			_, err := b.Deliveries(t.Context(), tenant, status.DeliveryFilter{}, most)
			return hook.CodeOf(err) == hook.CodeInvalid, nil
		}},
		{"statistics", 4, func() (bool, error) {
			_, err := b.Statistics(t.Context(), tenant, status.StatsQuery{})
			return hook.CodeOf(err) == hook.CodeInvalid, nil
		}},
	} {
		n.Store(0)
		if ok, err := tt.read(); !ok || err != nil || n.Load() > tt.want {
			t.Errorf("%s: right %t, %v, with %d requests; want at most %d", tt.name, ok, err, n.Load(), tt.want)
		}
	}
}
