package porttest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/hook"
)

// CountedLists counts the requests of lists: a call is one request, or one per 100
// records.
type CountedLists struct {
	status.Store

	requests chan int
}

// NewCountedLists returns lists with the count 0.
func NewCountedLists(lists status.Store) *CountedLists {
	return &CountedLists{lists, make(chan int, 1<<16)}
}

// Requests returns the requests since the last call.
func (c *CountedLists) Requests() int {
	sum := 0
	for len(c.requests) > 0 {
		sum += <-c.requests
	}
	return sum
}

// DeliveryRows counts one request.
func (c *CountedLists) DeliveryRows(ctx context.Context, part status.Part, span status.Span, look int) ([]status.Row, *status.Position, error) {
	c.requests <- 1
	return c.Store.DeliveryRows(ctx, part, span, look)
}

// UntargetedRows counts one request.
func (c *CountedLists) UntargetedRows(ctx context.Context, tenant hook.TenantID, shard int, span status.Span, look int) ([]status.Row, *status.Position, error) {
	c.requests <- 1
	return c.Store.UntargetedRows(ctx, tenant, shard, span, look)
}

// EventHeads counts one request per 100 ids.
func (c *CountedLists) EventHeads(ctx context.Context, ids []hook.EventID) ([]hook.Event, error) {
	c.requests <- (len(ids) + 99) / 100
	return c.Store.EventHeads(ctx, ids)
}

// DeliveriesByRef counts one request per 100 refs.
func (c *CountedLists) DeliveriesByRef(ctx context.Context, refs []hook.DeliveryRef) (map[hook.DeliveryRef]hook.Delivery, error) {
	c.requests <- (len(refs) + 99) / 100
	return c.Store.DeliveriesByRef(ctx, refs)
}

// EndpointIDs counts one request.
func (c *CountedLists) EndpointIDs(ctx context.Context, tenant hook.TenantID, after hook.EndpointID, limit int) ([]hook.EndpointID, error) {
	c.requests <- 1
	return c.Store.EndpointIDs(ctx, tenant, after, limit)
}

// EndpointsOf counts one request per 100 ids.
func (c *CountedLists) EndpointsOf(ctx context.Context, tenant hook.TenantID, ids []hook.EndpointID) ([]hook.Endpoint, error) {
	c.requests <- (len(ids) + 99) / 100
	return c.Store.EndpointsOf(ctx, tenant, ids)
}

// ListReader returns a reader of lists over the store.
func ListReader(s StoreUnderTest, lists status.Store) *status.Reader {
	now := func() time.Time { return storeEpoch() }
	return &status.Reader{
		Endpoints: &endpoint.Admin{Store: s, Policy: egress.Policy{}, Now: now}, Store: lists, Now: now,
	}
}

// listsWithinRequests: 20 endpoints have 100 deliveries each, every 10th dead. The first
// pages are enough: an emulator takes as long as the table is large for each query.
func listsWithinRequests(t *testing.T, s StoreUnderTest) {
	const endpoints, each, most = 20, 100, 3
	var targets []hook.Target
	for range endpoints {
		targets = append(targets, create(t, s, smallEndpoint("acme")).Target())
	}
	var group errgroup.Group
	group.SetLimit(16)
	for i := range each {
		group.Go(func() error { return PostTo(t.Context(), s, newEventID(t), i, targets) })
	}
	check(t, group.Wait())

	lists := NewCountedLists(s)
	r := ListReader(s, lists)
	for _, tt := range []struct {
		filter status.DeliveryFilter
		want   int
		most   int // requests of a page
	}{
		{want: endpoints * each, most: endpoints + 1 + 1 + 24},
		{filter: status.DeliveryFilter{State: hook.StateDead}, want: endpoints * each / 10, most: endpoints + 1 + 1 + 24},
		{filter: status.DeliveryFilter{State: hook.StateDelivered}, want: endpoints * each * 9 / 10, most: 2*endpoints + 1 + 1 + 24},
		{filter: status.DeliveryFilter{Endpoint: string(targets[3].Endpoint), Type: "type.7"}, want: each / 10, most: 1 + 24},
	} {
		got, pages, at := make(map[hook.DeliveryID]bool), 0, page.Request{Limit: 100}
		var last hook.Delivery
		for {
			list, err := r.Deliveries(t.Context(), "acme", tt.filter, at)
			check(t, err)
			if n := lists.Requests(); n > tt.most {
				t.Errorf("page %d of %+v made %d requests; want at most %d", pages, tt.filter, n, tt.most)
			}
			for _, d := range list.Data {
				if got[d.ID] || last.AcceptedAt != 0 && d.AcceptedAt > last.AcceptedAt {
					t.Fatalf("%s is listed twice, or after an older delivery", d.ID)
				}
				got[d.ID], last = true, d
			}
			pages++
			if at.Cursor = list.Next; list.Next == "" || pages == most {
				break
			}
		}
		if want := min(tt.want, most*100); len(got) != want {
			t.Errorf("%+v lists %d deliveries on %d pages; want %d", tt.filter, len(got), pages, want)
		}
	}
	if events := listedEvents(t, r, lists, endpoints+hook.UntargetedShards+1+1+24); events != each {
		t.Errorf("%d events are listed; want %d", events, each)
	}
}

// listedEvents lists all events of acme, and returns their number.
func listedEvents(t *testing.T, r *status.Reader, lists *CountedLists, most int) int {
	t.Helper()

	seen := make(map[hook.EventID]bool)
	for at, pages := (page.Request{Limit: 50}), 0; ; pages++ {
		list, err := r.Events(t.Context(), "acme", status.EventFilter{}, at)
		check(t, err)
		if n := lists.Requests(); n > most {
			t.Errorf("page %d of events made %d requests; want at most %d", pages, n, most)
		}
		for _, e := range list.Data {
			if seen[e.ID] {
				t.Fatalf("event %s is listed twice", e.ID)
			}
			seen[e.ID] = true
		}
		if at.Cursor = list.Next; list.Next == "" || pages > 1000 {
			return len(seen)
		}
	}
}

// PostTo stores event number i of acme with a recorded delivery to each target: every
// 10th event is dead, the others are delivered. The type is type.0 to type.9.
func PostTo(ctx context.Context, s StoreUnderTest, id hook.EventID, i int, targets []hook.Target) error {
	e := hook.Event{
		ID: id, Tenant: "acme", Type: fmt.Sprintf("type.%d", i%10), Payload: []byte("1"), Targets: targets,
		AcceptedAt: storeEpoch().Add(time.Duration(i) * time.Second), ExpiresAt: storeExpiry(),
	}
	if err := s.PutEvent(ctx, e); err != nil {
		return err
	}
	for _, target := range targets {
		d := hook.QueuedDelivery(e, target)
		d.State, d.Attempts = hook.StateDelivered, 1
		d.Last = hook.Outcome{Class: hook.ClassDelivered, Status: 200}
		if i%10 == 0 {
			d.State, d.Reason, d.Last = hook.StateDead, hook.ReasonExhausted, hook.Outcome{Class: hook.ClassUnavailable, Status: 503}
		}
		if err := s.SaveDelivery(ctx, d, nil); err != nil {
			return err
		}
	}
	return nil
}
