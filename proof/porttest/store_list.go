package porttest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/admin/tenant"
	"surehook.example/surehook/internal/hook"
)

func listCases() []storeCase {
	return []storeCase{
		{name: "rows of a shard come newest first, look by look", run: rowsNewestFirst},
		{name: "a delivery has a row in its state and in all states", run: rowsFollowState},
		{name: "rows begin with Since and end before Until", run: rowsInSpan},
		{name: "a look is at least 1 and at most 1000 rows", run: rowsLimits},
		{name: "events without a target have rows, other events have none", run: untargetedRows},
		{name: "a new event of an expired event's key replaces the row", run: untargetedReplaced},
		{name: "heads are events without payload", run: eventHeads},
		{name: "tenants are known from the first endpoint, event or limit on", run: tenantsKnown},
		{name: "tenants are listed by prefix, page by page", run: tenantsByPrefix},
		{name: "lists of 2000 deliveries answer a page within the stated requests", run: listsWithinRequests},
	}
}

// saveDead saves n dead deliveries of the endpoint, a millisecond apart, and
// returns the stored deliveries newest first.
func saveDead(t *testing.T, s StoreUnderTest, endpoint hook.EndpointID, from time.Time, n int) []hook.Delivery {
	t.Helper()

	var all []hook.Delivery
	for i := range n {
		d := sampleDelivery(newEventID(t), endpoint, 1)
		d.State = hook.StateDead
		d.Reason = hook.ReasonExhausted
		d.CreatedAt = from.Add(time.Duration(i) * time.Millisecond)
		check(t, s.SaveDelivery(t.Context(), d, nil))
		all = append(all, saved(d))
	}
	slices.Reverse(all)
	return all
}

// rowsOf reads all rows of the shards in the state, newest first, in looks of n.
func rowsOf(t *testing.T, s StoreUnderTest, target hook.Target, state hook.State, span status.Span, n int) []status.Row {
	t.Helper()

	var all []status.Row
	for shard := range target.Shards {
		at := span
		for {
			rows, last, err := s.DeliveryRows(t.Context(), status.Part{Endpoint: target.Endpoint, Shard: shard, State: state}, at, n)
			check(t, err)
			if len(rows) > n || len(all) > 10000 {
				t.Fatalf("DeliveryRows(look %d) = %d rows after %d; want an end", n, len(rows), len(all))
			}
			if last != nil && (len(rows) == 0 || *last != rows[len(rows)-1].Position) {
				t.Fatalf("DeliveryRows(look %d) = %v, to %v; want the position of the last row", n, rows, *last)
			}
			if at.From != span.From && len(rows) > 0 && rows[0].Position == *at.From {
				rows = rows[1:]
			}
			if all = append(all, rows...); last == nil || len(rows) == 0 {
				break
			}
			at.From = last
		}
	}
	slices.SortFunc(all, func(a, b status.Row) int { return a.Compare(b.Position) })
	return all
}

// wantRows compares the rows of the state, in looks of several sizes, with the
// deliveries, newest first.
func wantRows(t *testing.T, s StoreUnderTest, target hook.Target, state hook.State, span status.Span, deliveries ...hook.Delivery) {
	t.Helper()

	var want []status.Row
	for _, d := range deliveries {
		row := status.Row{Position: status.Position{At: d.AcceptedAt, DeliveryID: d.ID}, Delivery: d}
		if state != 0 {
			row = status.Row{Position: status.Position{At: d.CreatedAt.UnixMilli(), DeliveryID: d.ID}, Delivery: hook.Delivery{}.At(d.Ref())}
		}
		want = append(want, row)
	}
	slices.SortFunc(want, func(a, b status.Row) int { return a.Compare(b.Position) })
	for _, n := range []int{2, 3, 1000} {
		wantSame(t, fmt.Sprintf("DeliveryRows(%v, look %d)", state, n), want, rowsOf(t, s, target, state, span, n), nil)
	}
}

func rowsNewestFirst(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	dead := saveDead(t, s, endpoint, storeEpoch(), 7)
	saveDead(t, s, hook.NewEndpointID(), storeEpoch(), 2)
	// Times with fewer digits sort in order, too.
	dead = append(dead, saveDead(t, s, endpoint, time.Date(2025, 12, 31, 23, 59, 59, 0, time.UTC), 1)...)
	wantRows(t, s, wide(endpoint), hook.StateDead, status.Span{}, dead...)
	wantRows(t, s, wide(endpoint), 0, status.Span{}, dead...)
}

func rowsFollowState(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	d := saveDead(t, s, endpoint, storeEpoch().Add(time.Hour), 1)[0] // created after the acceptance, like a replay
	for _, state := range []hook.State{hook.StateDiscarded, hook.StateDelivered} {
		d.State = state
		check(t, s.SaveDelivery(t.Context(), d, nil))
		d = saved(d)
	}
	first := sampleDelivery(newEventID(t), endpoint, 1)
	first.State = hook.StateDelivered
	check(t, s.SaveDelivery(t.Context(), first, nil))
	for _, state := range []hook.State{hook.StateRetrying, hook.StateParked, hook.StateDead, hook.StateDiscarded} {
		wantRows(t, s, wide(endpoint), state, status.Span{})
	}
	wantRows(t, s, wide(endpoint), hook.StateDelivered, status.Span{}, d) // and not the first generation
	wantRows(t, s, wide(endpoint), 0, status.Span{}, d, saved(first))
}

func rowsInSpan(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	all := saveDead(t, s, endpoint, storeEpoch(), 5)
	at := func(ms int) time.Time { return storeEpoch().Add(time.Duration(ms) * time.Millisecond) }
	for _, tt := range []struct {
		span status.Span
		want []hook.Delivery
	}{
		{span: status.Span{Since: at(1), Until: at(4)}, want: all[1:4]},
		{span: status.Span{Since: at(1).Add(1)}, want: all[:3]},
		{span: status.Span{Until: at(1).Add(1)}, want: all[3:]},
		{span: status.Span{Since: at(3), Until: at(3)}},
		{span: status.Span{Since: at(4), Until: at(1)}},
		{span: status.Span{From: &status.Position{At: all[2].CreatedAt.UnixMilli(), DeliveryID: all[2].ID}}, want: all[2:]},
		{span: status.Span{Until: at(2), From: &status.Position{At: all[1].CreatedAt.UnixMilli(), DeliveryID: all[1].ID}}, want: all[3:]},
	} {
		wantRows(t, s, wide(endpoint), hook.StateDead, tt.span, tt.want...)
	}
	// The acceptance of all deliveries is storeEpoch.
	wantRows(t, s, wide(endpoint), 0, status.Span{Since: at(0), Until: at(1)}, all...)
	wantRows(t, s, wide(endpoint), 0, status.Span{Since: at(1)})
}

func rowsLimits(t *testing.T, s StoreUnderTest) {
	d := saveDead(t, s, hook.NewEndpointID(), storeEpoch(), 1)[0]
	next := d
	next.ID.Generation, next.Version = 2, 0
	check(t, s.SaveDelivery(t.Context(), next, nil)) // in the same shard
	part := status.Part{Endpoint: d.ID.Endpoint, Shard: d.Shard}
	for look, want := range map[int]int{-1: 1, 0: 1, 1: 1, 2: 2, 1 << 40: 2} {
		rows, last, err := s.DeliveryRows(t.Context(), part, status.Span{}, look)
		if err != nil || len(rows) != want || want == 1 && last == nil {
			t.Errorf("DeliveryRows(look %d of 2) = %d, %v, %v; want %d", look, len(rows), last, err, want)
		}
	}
}

// untargeted returns acme's events without a target, newest first.
func untargeted(t *testing.T, s StoreUnderTest, span status.Span) []hook.EventID {
	t.Helper()

	var all []status.Row
	for shard := range hook.UntargetedShards {
		rows, last, err := s.UntargetedRows(t.Context(), "acme", shard, span, 100)
		check(t, err)
		if last != nil {
			t.Fatal("UntargetedRows(look 100) has more; want all")
		}
		all = append(all, rows...)
	}
	slices.SortFunc(all, func(a, b status.Row) int { return a.Compare(b.Position) })
	ids := make([]hook.EventID, len(all))
	for i, row := range all {
		ids[i] = row.Event
	}
	return ids
}

func untargetedRows(t *testing.T, s StoreUnderTest) {
	var want []hook.EventID
	for i := range 5 {
		for _, e := range []hook.Event{
			{Tenant: "acme"}, {Tenant: "globex"}, {Tenant: "acme", Targets: []hook.Target{wide(hook.NewEndpointID())}},
		} {
			e.ID, e.Type, e.Payload = newEventID(t), "a", []byte("1")
			e.AcceptedAt = storeEpoch().Add(time.Duration(i) * time.Second)
			check(t, s.PutEvent(t.Context(), e))
			if e.Tenant == "acme" && e.Targets == nil {
				want = append(want, e.ID)
			}
		}
	}
	slices.Reverse(want)
	wantSame(t, "events without a target", want, untargeted(t, s, status.Span{}), nil)
	span := status.Span{Since: storeEpoch().Add(time.Second), Until: storeEpoch().Add(3 * time.Second)}
	wantSame(t, "events without a target in the span", want[2:4], untargeted(t, s, span), nil)
	from := status.Position{At: storeEpoch().Add(2 * time.Second).UnixMilli(), DeliveryID: hook.DeliveryID{Event: want[2]}}
	wantSame(t, "events without a target from the third on", want[2:], untargeted(t, s, status.Span{From: &from}), nil)
}

func untargetedReplaced(t *testing.T, s StoreUnderTest) {
	e := hook.Event{ID: newEventID(t), Tenant: "acme", Type: "a", Payload: []byte("1"), AcceptedAt: storeEpoch(), ExpiresAt: storeEpoch().Add(time.Hour)}
	check(t, s.PutEvent(t.Context(), e))
	e.AcceptedAt, e.ExpiresAt = storeEpoch().Add(2*time.Hour), storeExpiry()
	check(t, s.PutEvent(t.Context(), e))
	wantSame(t, "events without a target", []hook.EventID{e.ID}, untargeted(t, s, status.Span{}), nil)
	e.ID = newEventID(t)
	e.ExpiresAt = storeEpoch().Add(3 * time.Hour)
	check(t, s.PutEvent(t.Context(), e))
	e.AcceptedAt, e.Targets = storeEpoch().Add(4*time.Hour), []hook.Target{wide(hook.NewEndpointID())}
	check(t, s.PutEvent(t.Context(), e))
	if got := untargeted(t, s, status.Span{}); len(got) != 1 {
		t.Errorf("events without a target = %v; want no event with a target", got)
	}
}

func eventHeads(t *testing.T, s StoreUnderTest) {
	var want []hook.Event
	var ids []hook.EventID
	for range 3 {
		e := sampleEvent(t)
		check(t, s.PutEvent(t.Context(), e))
		e.Payload, e.Nonce = nil, ""
		want, ids = append(want, e), append(ids, e.ID)
	}
	got, err := s.EventHeads(t.Context(), append(ids, newEventID(t)))
	slices.SortFunc(got, func(a, b hook.Event) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	wantSame(t, "EventHeads()", want, got, err)
}

func tenantsKnown(t *testing.T, s StoreUnderTest) {
	create(t, s, smallEndpoint("acme"))
	create(t, s, smallEndpoint("acme"))
	check(t, s.RegisterTenant(t.Context(), "globex"))
	check(t, s.RegisterTenant(t.Context(), "globex"))
	limits := hook.TenantLimits{Endpoints: 5}
	check(t, s.SetTenantLimits(t.Context(), "initech", limits))
	if version, err := s.TenantVersion(t.Context(), "globex"); err != nil || version == 0 {
		t.Errorf("TenantVersion(registered) = %d, %v; want above 0", version, err)
	}
	want := []tenant.Tenant{{ID: "acme", Endpoints: 2}, {ID: "globex"}, {ID: "initech", Limits: limits}}
	got, next, err := s.Tenants(t.Context(), "", "", 100)
	wantSame(t, "Tenants()", want, got, err)
	if next != "" {
		t.Errorf("Tenants() goes on after %q; want the end", next)
	}
}

func tenantsByPrefix(t *testing.T, s StoreUnderTest) {
	for _, id := range []hook.TenantID{"a", "b.1", "b.2", "b.3", "c"} {
		check(t, s.RegisterTenant(t.Context(), id))
	}
	var got []hook.TenantID
	var next hook.TenantID
	for range 3 {
		page, after, err := s.Tenants(t.Context(), "b.", next, 2)
		check(t, err)
		for _, known := range page {
			got = append(got, known.ID)
		}
		if next = after; next == "" {
			break
		}
	}
	wantSame(t, "Tenants(b.) in pages of 2", []hook.TenantID{"b.1", "b.2", "b.3"}, got, nil)
}
