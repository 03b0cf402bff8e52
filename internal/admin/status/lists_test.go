package status_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/proof/porttest"
)

// all reads a list to its end, in pages of limit.
func all[T any](t *testing.T, limit int, read func(page.Request) (page.List[T], error)) []T {
	t.Helper()

	var list []T
	for p := (page.Request{Limit: limit}); ; {
		got, err := read(p)
		if err != nil || len(got.Data) > limit {
			t.Fatalf("page = %d of %d, %v", len(got.Data), limit, err)
		}
		list = append(list, got.Data...)
		if p.Cursor = got.Next; got.Next == "" {
			return list
		}
	}
}

func (b *bundle) deliveries(t *testing.T, f status.DeliveryFilter, limit int) []hook.DeliveryID {
	t.Helper()

	var ids []hook.DeliveryID
	for _, d := range all(t, limit, func(p page.Request) (page.List[hook.Delivery], error) { return b.Deliveries(t.Context(), tenant, f, p) }) {
		ids = append(ids, d.ID)
	}
	return ids
}

func (b *bundle) eventsOf(t *testing.T, f status.EventFilter, limit int) []hook.EventID {
	t.Helper()

	var ids []hook.EventID
	for _, e := range all(t, limit, func(p page.Request) (page.List[status.ListedEvent], error) {
		return b.Events(t.Context(), tenant, f, p)
	}) {
		ids = append(ids, e.ID)
	}
	return ids
}

// crowd has deliveries with random states, types and times, to 7 endpoints with 1 to 3 shards
// each. Several deliveries have the same time, and some are replays.
type crowd struct {
	*bundle
	endpoints []hook.Endpoint
	stored    []hook.Delivery
	saved     []hook.Delivery // the queued ones, too
	events    []hook.Event
}

func newCrowd(t *testing.T, seed uint64) crowd {
	t.Helper()

	random := rand.New(rand.NewPCG(seed, 2))
	c := crowd{bundle: setup(t)}
	for i := range 7 {
		e := c.create(t)
		e = e.Sharded(1 + i%3)
		if err := c.store.UpdateEndpoint(t.Context(), e); err != nil {
			t.Fatalf("UpdateEndpoint = %v", err)
		}
		c.endpoints = append(c.endpoints, e)
	}
	states := []hook.State{hook.StateDelivered, hook.StateDelivered, hook.StateDead, hook.StateRetrying, hook.StateParked, hook.StateDiscarded, hook.StateQueued}
	for n := range 60 {
		e := hook.Event{
			ID: hook.KeyedEventID(tenant, fmt.Sprint(n)), IdempotencyKey: fmt.Sprint(n), Tenant: tenant, Type: []string{"a", "b"}[random.IntN(2)], Payload: []byte("1"),
			AcceptedAt: c.now.Add(-time.Duration(random.IntN(20)) * time.Minute), ExpiresAt: c.now.Add(time.Hour),
		}
		for _, i := range random.Perm(len(c.endpoints))[:random.IntN(4)] {
			e.Targets = append(e.Targets, c.endpoints[i].Target())
		}
		if err := c.store.PutEvent(t.Context(), e); err != nil {
			t.Fatalf("PutEvent = %v", err)
		}
		c.events = append(c.events, e)
		for _, target := range e.Targets {
			d := hook.QueuedDelivery(e, target)
			for generation := range 1 + random.IntN(2) {
				d.ID.Generation, d.CreatedAt = generation+1, e.AcceptedAt.Add(time.Duration(generation)*time.Duration(random.IntN(9))*time.Minute)
				d.State, d.Attempts, d.Last = states[random.IntN(len(states))], 1, hook.Outcome{Class: hook.ClassUnavailable, Status: []int{0, 204, 404, 503}[random.IntN(4)]}
				if d.Last.Status == 204 {
					d.Last.Class = hook.ClassDelivered
				}
				if random.IntN(5) == 0 {
					d.Replayed = hook.Replayed{Generation: d.ID.Generation + 1, At: c.now}
				} else {
					d.Replayed = hook.Replayed{}
				}
				if err := c.store.SaveDelivery(t.Context(), d, nil); err != nil {
					t.Fatalf("SaveDelivery = %v", err)
				}
				c.saved = append(c.saved, d)
				if d.State != hook.StateQueued { // no list has it
					c.stored = append(c.stored, d)
				}
			}
		}
	}
	return c
}

// want returns the stored deliveries that the filter selects, sorted.
func (c crowd) want(f status.DeliveryFilter) []hook.DeliveryID {
	type listed struct {
		at status.Position
		id hook.DeliveryID
	}
	var list []listed
	for _, d := range c.stored {
		at := status.Position{At: d.AcceptedAt, DeliveryID: d.ID}
		if f.State != 0 {
			at.At = d.CreatedAt.UnixMilli()
		}
		class := map[int]string{0: "none", 2: "2xx", 4: "4xx", 5: "5xx"}[d.Last.Status/100]
		if (f.Endpoint == "" || string(d.ID.Endpoint) == f.Endpoint) && (f.State == 0 || d.State == f.State) && (f.Type == "" || d.EventType == f.Type) &&
			(f.Status == "" || class == f.Status) && (!f.Failed || d.Last.Class != hook.ClassDelivered) && !at.Time().Before(f.Since) && (f.Until.IsZero() || at.Time().Before(f.Until)) {
			list = append(list, listed{at, d.ID})
		}
	}
	slices.SortFunc(list, func(a, b listed) int { return a.at.Compare(b.at) })
	var ids []hook.DeliveryID
	for _, l := range list {
		ids = append(ids, l.id)
	}
	return ids
}

// TestReader_Deliveries compares every combination of filters with a plain sort.
func TestReader_Deliveries(t *testing.T) {
	t.Parallel()

	for seed := range uint64(4) {
		c := newCrowd(t, seed)
		for _, endpoint := range []string{"", string(c.endpoints[2].ID), string(c.endpoints[3].ID)} {
			for _, state := range []hook.State{0, hook.StateDelivered, hook.StateDead, hook.StateParked} {
				for _, eventType := range []string{"", "b"} {
					for _, class := range []string{"", "none", "5xx"} {
						for _, since := range []time.Time{{}, c.now.Add(-9 * time.Minute)} {
							f := status.DeliveryFilter{Endpoint: endpoint, State: state, Type: eventType, Status: class, Since: since, Failed: state == 0 && class == ""}
							if !since.IsZero() {
								f.Until = c.now.Add(-3 * time.Minute)
							}
							for _, limit := range []int{1, 7, 100} {
								if got, want := c.deliveries(t, f, limit), c.want(f); !slices.Equal(got, want) {
									t.Fatalf("seed %d: Deliveries(%+v) in pages of %d = %v; want %v", seed, f, limit, got, want)
								}
							}
						}
					}
				}
			}
		}
	}
}

// TestReader_Events compares the list with a plain sort of all events with a delivery and all
// events without a target, each once.
func TestReader_Events(t *testing.T) {
	t.Parallel()

	for seed := range uint64(4) {
		c := newCrowd(t, seed)
		for _, f := range []status.EventFilter{{}, {Type: "a"}, {Since: c.now.Add(-9 * time.Minute), Until: c.now.Add(-3 * time.Minute)}} {
			want := slices.DeleteFunc(slices.Clone(c.events), func(e hook.Event) bool {
				return f.Type != "" && e.Type != f.Type || e.AcceptedAt.Before(f.Since) || !f.Until.IsZero() && !e.AcceptedAt.Before(f.Until)
			})
			slices.SortFunc(want, func(a, b hook.Event) int {
				return status.Position{At: a.AcceptedAt.UnixMilli(), DeliveryID: hook.DeliveryID{Event: a.ID}}.
					Compare(status.Position{At: b.AcceptedAt.UnixMilli(), DeliveryID: hook.DeliveryID{Event: b.ID}})
			})
			var ids []hook.EventID
			for _, e := range want {
				ids = append(ids, e.ID)
			}
			for _, limit := range []int{1, 7, 100} {
				if got := c.eventsOf(t, f, limit); !slices.Equal(got, ids) {
					t.Fatalf("seed %d: Events(%+v) in pages of %d = %v; want %v", seed, f, limit, got, ids)
				}
			}
		}
	}
}

// TestReader_Events_states compares the states of listed events with those of all their records.
func TestReader_Events_states(t *testing.T) {
	t.Parallel()

	for seed := range uint64(4) {
		c := newCrowd(t, seed)
		if err := c.admin.Delete(t.Context(), tenant, string(c.endpoints[5].ID), 0); err != nil {
			t.Fatalf("Delete = %v", err)
		}
		for _, limit := range []int{1, 7, 100} {
			for _, e := range all(t, limit, func(p page.Request) (page.List[status.ListedEvent], error) {
				return c.Events(t.Context(), tenant, status.EventFilter{}, p)
			}) {
				if want := c.states(e.Event); !maps.Equal(e.States, want) {
					t.Errorf("seed %d: Events(), in pages of %d, says %v of %s; want %v", seed, limit, e.States, e.ID, want)
				}
			}
		}
	}
}

// states counts the event's targets by the state of the newest delivery, but for the deleted one.
func (c crowd) states(e hook.Event) map[hook.State]int {
	newest := make(map[hook.EndpointID]hook.Delivery)
	for _, d := range c.saved {
		if d.ID.Event == e.ID {
			newest[d.ID.Endpoint] = d // in the order of generations
		}
	}
	counts := make(map[hook.State]int)
	for _, target := range e.Targets {
		d := newest[target.Endpoint]
		switch {
		case target.Endpoint == c.endpoints[5].ID:
		case d.Replayed.Generation != 0:
			counts[hook.StateQueued]++
		default:
			counts[d.State]++
		}
	}
	return counts
}

// TestReader_Events_key finds a queued event by its idempotency key.
func TestReader_Events_key(t *testing.T) {
	t.Parallel()

	p := newPast(t)
	list, err := p.Events(t.Context(), tenant, status.EventFilter{IdempotencyKey: "k"}, page.Request{Limit: 1})
	if err != nil || len(list.Data) != 1 || list.Data[0].ID != p.event.ID || list.Data[0].Payload != nil || list.Next != "" {
		t.Errorf("Events(key k) = %+v, %v; want the event without payload", list, err)
	}
	for _, f := range []status.EventFilter{{IdempotencyKey: "other"}, {IdempotencyKey: "k", Type: "other"}, {IdempotencyKey: "k", Until: p.now}} {
		if list, err := p.Events(t.Context(), tenant, f, page.Request{Limit: 1}); err != nil || len(list.Data) != 0 {
			t.Errorf("Events(%+v) = %+v, %v; want none", f, list, err)
		}
	}
	if list, err := p.Events(t.Context(), "globex", status.EventFilter{IdempotencyKey: "k"}, page.Request{Limit: 1}); err != nil || len(list.Data) != 0 {
		t.Errorf("Events(another tenant's key) = %+v, %v; want none", list, err)
	}
	f := status.DeliveryFilter{IdempotencyKey: "k"}
	if got := p.deliveries(t, f, 2); len(got) != 3 {
		t.Errorf("Deliveries(key k) = %v; want all three, the queued too", got)
	}
	if f.State, f.Endpoint = hook.StateRetrying, string(p.retrying.Endpoint); !slices.Equal(p.deliveries(t, f, 2), []hook.DeliveryID{p.retrying}) {
		t.Errorf("Deliveries(key k, retrying) = %v; want %s", p.deliveries(t, f, 2), p.retrying)
	}
	if f.IdempotencyKey = "other"; len(p.deliveries(t, f, 2)) != 0 {
		t.Errorf("Deliveries(key other) = %v; want none", p.deliveries(t, f, 2))
	}
}

// TestReader_Events_reusedKey checks that a delivery of an expired event does not list the key's
// new event at the old time, and that expired records are not listed.
func TestReader_Events_reusedKey(t *testing.T) {
	t.Parallel()

	b := setup(t)
	target := b.create(t).Target()
	e := hook.Event{
		ID: hook.KeyedEventID(tenant, "k"), Tenant: tenant, Type: "a", Payload: []byte("1"), Targets: []hook.Target{target},
		AcceptedAt: b.now.Add(-2 * time.Hour), ExpiresAt: b.now.Add(-time.Hour),
	}
	for range 2 {
		if err := b.store.PutEvent(t.Context(), e); err != nil {
			t.Fatalf("PutEvent = %v", err)
		}
		d := hook.QueuedDelivery(e, target)
		d.State = hook.StateDead
		if err := b.store.SaveDelivery(t.Context(), d, nil); err != nil {
			t.Fatalf("SaveDelivery = %v", err)
		}
		e.AcceptedAt, e.ExpiresAt = b.now.Add(-time.Minute), b.now.Add(time.Hour)
	}
	if got := b.eventsOf(t, status.EventFilter{}, 1); !slices.Equal(got, []hook.EventID{e.ID}) {
		t.Errorf("Events() = %v; want the new event once", got)
	}
	if got := b.deliveries(t, status.DeliveryFilter{}, 10); len(got) != 1 {
		t.Errorf("Deliveries() = %v; want the delivery of the new event", got)
	}
}

// TestReader_Deliveries_deletedEndpoint checks that the filter finds the deliveries of a deleted
// endpoint, but only for its own tenant.
func TestReader_Deliveries_deletedEndpoint(t *testing.T) {
	t.Parallel()

	p := newPast(t)
	id := string(p.retrying.Endpoint)
	if err := p.admin.Delete(t.Context(), tenant, id, 0); err != nil {
		t.Fatalf("Delete = %v", err)
	}
	for _, state := range []hook.State{0, hook.StateRetrying} {
		f := status.DeliveryFilter{Endpoint: id, State: state}
		if got := p.deliveries(t, f, 1); !slices.Equal(got, []hook.DeliveryID{p.retrying}) {
			t.Errorf("Deliveries(deleted endpoint, state %v) = %v; want %s", state, got, p.retrying)
		}
		if _, err := p.Deliveries(t.Context(), "globex", f, page.Request{Limit: 1}); hook.CodeOf(err) != hook.CodeNotFound || err == nil {
			t.Errorf("Deliveries(another tenant's deleted endpoint) = %v; want CodeNotFound", err)
		}
	}
	if got := p.deliveries(t, status.DeliveryFilter{}, 10); slices.Contains(got, p.retrying) {
		t.Errorf("Deliveries() = %v; want none of the deleted endpoint", got)
	}
	for _, unknown := range []string{string(hook.NewEndpointID()), "no-such-uid"} {
		if _, err := p.Deliveries(t.Context(), tenant, status.DeliveryFilter{Endpoint: unknown}, page.Request{Limit: 1}); hook.CodeOf(err) != hook.CodeNotFound || err == nil {
			t.Errorf("Deliveries(%s) = %v; want CodeNotFound", unknown, err)
		}
	}
}

func TestReader_Deliveries_invalid(t *testing.T) {
	t.Parallel()

	c := newCrowd(t, 9)
	first, err := c.Deliveries(t.Context(), tenant, status.DeliveryFilter{}, page.Request{Limit: 1})
	if err != nil || first.Next == "" {
		t.Fatalf("Deliveries = %q, %v; want a cursor", first.Next, err)
	}
	scope := page.Scope("deliveries", string(tenant), "", "", "", "", "", "", "")
	at := fmt.Sprintf("%d#%s#1#%s", c.now.UnixMilli(), c.events[0].ID, c.endpoints[0].ID)
	if _, err := c.Deliveries(t.Context(), tenant, status.DeliveryFilter{}, page.Request{Limit: 1, Cursor: page.NewCursor(scope, at)}); err != nil {
		t.Errorf("Deliveries(after %q) = %v; want a page", at, err)
	}
	bad := []page.Request{{Cursor: "x"}, {Cursor: page.NewCursor(scope, at+"x")}, {Cursor: page.NewCursor(scope, "0"+at)}, {Cursor: page.NewCursor(scope, "~#"+at)}}
	for _, p := range bad {
		p.Limit = 1
		if _, err := c.Deliveries(t.Context(), tenant, status.DeliveryFilter{}, p); !slices.Equal(fieldsOf(t, err), []string{"cursor"}) {
			t.Errorf("Deliveries(cursor %q) = %v; want the field cursor", p.Cursor, err)
		}
	}
	for _, f := range []status.DeliveryFilter{{State: hook.StateDead}, {Type: "a"}, {Status: "2xx"}, {Since: c.now}, {Endpoint: string(c.endpoints[0].ID)}} {
		_, err := c.Deliveries(t.Context(), tenant, f, page.Request{Limit: 1, Cursor: first.Next})
		if !slices.Equal(fieldsOf(t, err), []string{"cursor"}) {
			t.Errorf("Deliveries(%+v) with the cursor of another filter = %v; want the field cursor", f, err)
		}
	}
	_, err = c.Deliveries(t.Context(), tenant, status.DeliveryFilter{State: hook.StateQueued}, page.Request{Limit: 1})
	if !slices.Equal(fieldsOf(t, err), []string{"state"}) {
		t.Errorf("Deliveries(queued) = %v; want the field state", err)
	}
}

// The filter idempotency_key changes neither what the times mean nor the order.
func TestReader_Deliveries_ofAKeyAsOfAll(t *testing.T) {
	t.Parallel()

	s := memory.NewStore()
	e := hook.Endpoint{ID: hook.NewEndpointID(), Tenant: tenant, URL: "https://example.com/", Shards: 1}
	if err := s.CreateEndpoint(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	r := porttest.ListReader(s, s)
	accepted := r.Now().Add(-48 * time.Hour).UTC().Truncate(time.Millisecond)
	event := hook.Event{
		ID: hook.KeyedEventID(tenant, "k"), Tenant: tenant, Type: "a", Payload: []byte("1"), Targets: []hook.Target{e.Target()},
		AcceptedAt: accepted, ExpiresAt: accepted.AddDate(0, 0, 90),
	}
	if err := s.PutEvent(t.Context(), event); err != nil {
		t.Fatal(err)
	}
	for g := 1; g <= 3; g++ { // generation g was created g-1 days after the event
		d := hook.QueuedDelivery(event, e.Target())
		d.ID.Generation, d.State, d.Reason, d.Attempts = g, hook.StateDead, hook.ReasonExhausted, 1
		d.CreatedAt = accepted.Add(time.Duration(g-1) * 24 * time.Hour)
		if g < 3 {
			d.Replayed.Generation = g + 1
		}
		if err := s.SaveDelivery(t.Context(), d, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []status.DeliveryFilter{
		{}, {State: hook.StateDead}, {Until: accepted.Add(time.Hour)}, {State: hook.StateDead, Until: accepted.Add(time.Hour)}, {State: hook.StateDead, Since: accepted.Add(time.Hour)},
	} {
		plain, keyed := f, f
		keyed.IdempotencyKey = "k"
		var lists [2][]hook.DeliveryID
		for i, f := range []status.DeliveryFilter{plain, keyed} {
			for cursor := ""; ; {
				list, err := r.Deliveries(t.Context(), tenant, f, page.Request{Limit: 1, Cursor: cursor})
				if err != nil {
					t.Fatalf("Deliveries(%+v) = %v", f, err)
				}
				for _, d := range list.Data {
					lists[i] = append(lists[i], d.ID)
				}
				if cursor = list.Next; cursor == "" {
					break
				}
			}
		}
		if len(lists[0]) == 0 || !slices.Equal(lists[0], lists[1]) {
			t.Errorf("%+v: with the key %v; want as without, %v", f, lists[1], lists[0])
		}
	}
}

// TestReader_Deliveries_tooManyShards checks that a list of more than 1000 shards, or 500 for
// delivered, needs the filter endpoint.
func TestReader_Deliveries_tooManyShards(t *testing.T) {
	t.Parallel()

	b := setup(t)
	var e hook.Endpoint
	for i := range 63 { // 1008 shards
		e = hook.Endpoint{ID: hook.NewEndpointID(), Tenant: tenant, Shards: hook.MaxShards}
		e.URL = "https://example.com/" + string(e.ID)
		if err := b.store.CreateEndpoint(t.Context(), e); err != nil {
			t.Fatalf("CreateEndpoint = %v", err)
		}
		if i != 30 && i != 31 { // 496 and 512 shards
			continue
		}
		for state, refused := range map[hook.State]bool{0: false, hook.StateDead: false, hook.StateDelivered: i == 31} {
			_, err := b.Deliveries(t.Context(), tenant, status.DeliveryFilter{State: state}, page.Request{Limit: 1})
			if (hook.CodeOf(err) == hook.CodeInvalid) != refused {
				t.Errorf("Deliveries(%v) of %d shards = %v; want a refusal: %t", state, (i+1)*hook.MaxShards, err, refused)
			}
		}
	}
	_, err := b.Deliveries(t.Context(), tenant, status.DeliveryFilter{}, page.Request{Limit: 1})
	if !slices.Equal(fieldsOf(t, err), []string{"endpoint"}) {
		t.Errorf("Deliveries = %v; want the field endpoint", err)
	}
	_, err = b.Events(t.Context(), tenant, status.EventFilter{}, page.Request{Limit: 1})
	if hook.CodeOf(err) != hook.CodeInvalid || !strings.Contains(fmt.Sprint(err), "deliveries of one endpoint") { // events have no such filter
		t.Errorf("Events = %v; want the way out in the message", err)
	}
	if _, err = b.Deliveries(t.Context(), tenant, status.DeliveryFilter{Endpoint: string(e.ID)}, page.Request{Limit: 1}); err != nil {
		t.Errorf("Deliveries(endpoint) = %v; want a page", err)
	}
}

// TestReader_lists_requests has 500 endpoints with 200,000 deliveries: every page stays within
// the number of requests that the contract states.
func TestReader_lists_requests(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("a store of 80,000 deliveries")
	}
	const endpoints, deliveries = 500, 80_000
	s := memory.NewStore()
	for range endpoints {
		id := hook.NewEndpointID()
		e := hook.Endpoint{ID: id, Tenant: tenant, URL: "https://example.com/" + string(id), Shards: 1}
		if err := s.CreateEndpoint(t.Context(), e); err != nil {
			t.Fatalf("CreateEndpoint = %v", err)
		}
	}
	stored, err := s.Endpoints(t.Context(), tenant)
	if err != nil || len(stored) != endpoints {
		t.Fatalf("Endpoints = %d, %v", len(stored), err)
	}
	// Popularity follows Zipf's law: one endpoint has a large share of the deliveries, and some
	// have no recent ones.
	popular := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.2, 1, endpoints-1)
	for i := range deliveries {
		id := hook.KeyedEventID(tenant, fmt.Sprint(i))
		if err := porttest.PostTo(t.Context(), s, id, i, []hook.Target{stored[popular.Uint64()].Target()}); err != nil {
			t.Fatal(err)
		}
	}
	lists := porttest.NewCountedLists(s)
	r := porttest.ListReader(s, lists)
	busy := string(stored[0].ID)
	const more = 1 + endpoints/100 + 24
	for _, tt := range []struct {
		filter status.DeliveryFilter
		most   int
	}{
		{filter: status.DeliveryFilter{}, most: endpoints + more},
		{filter: status.DeliveryFilter{State: hook.StateDead}, most: endpoints + more},
		{filter: status.DeliveryFilter{State: hook.StateDelivered}, most: 2*endpoints + more},
		{filter: status.DeliveryFilter{Type: "type.3"}, most: endpoints + more},
		{filter: status.DeliveryFilter{Type: "no.such.type"}, most: endpoints + more},
		{filter: status.DeliveryFilter{Endpoint: busy}, most: 1 + 24},
		{filter: status.DeliveryFilter{Endpoint: busy, Type: "no.such.type"}, most: 1 + 24},
	} {
		for p, n := (page.Request{Limit: 50}), 0; n < 5; n++ {
			list, err := r.Deliveries(t.Context(), tenant, tt.filter, p)
			if requests := lists.Requests(); err != nil || requests > tt.most {
				t.Errorf("page %d of %+v = %d deliveries, %v after %d requests; want at most %d", n, tt.filter, len(list.Data), err, requests, tt.most)
			}
			if full := tt.filter.Type != "no.such.type"; full != (len(list.Data) == 50) || full && list.Next == "" || list.Next == p.Cursor {
				t.Errorf("page %d of %+v = %d deliveries and cursor %q; want a full page: %t, and a new cursor", n, tt.filter, len(list.Data), list.Next, full)
			}
			if p.Cursor = list.Next; p.Cursor == "" {
				break
			}
		}
	}
	list, err := r.Events(t.Context(), tenant, status.EventFilter{}, page.Request{Limit: 50})
	if n := lists.Requests(); err != nil || len(list.Data) != 50 || n > endpoints+hook.UntargetedShards+more {
		t.Errorf("Events = %d, %v after %d requests", len(list.Data), err, n)
	}
}

// TestReader_lists_endEarly has a filter that drops most rows and uses up the requests of each
// page. Pages then end early, but together they list every delivery and event once.
func TestReader_lists_endEarly(t *testing.T) {
	t.Parallel()

	const endpoints, events = 61, 6100
	s := memory.NewStore()
	var targets []hook.Target
	for range endpoints {
		id := hook.NewEndpointID()
		e := hook.Endpoint{ID: id, Tenant: tenant, URL: "https://example.com/" + string(id), Shards: 1}
		if err := s.CreateEndpoint(t.Context(), e); err != nil {
			t.Fatalf("CreateEndpoint = %v", err)
		}
		targets = append(targets, e.Target())
	}
	for n := range events { // every 100th event has type.7, the others have type.1
		i := 10*n + 1
		if n%100 == 0 {
			i += 6
		}
		if err := porttest.PostTo(t.Context(), s, hook.KeyedEventID(tenant, fmt.Sprint(i)), i, targets[n%endpoints:][:1]); err != nil {
			t.Fatal(err)
		}
	}
	lists := porttest.NewCountedLists(s)
	r := porttest.ListReader(s, lists)
	const most = endpoints + hook.UntargetedShards + 1 + 1 + 24
	pages, seen := 0, make(map[hook.EventID]int)
	count := func() {
		if n := lists.Requests(); n > most {
			t.Errorf("page %d made %d requests; want at most %d", pages, n, most)
		}
		pages++
	}
	for _, d := range all(t, 100, func(p page.Request) (page.List[hook.Delivery], error) {
		defer count()
		return r.Deliveries(t.Context(), tenant, status.DeliveryFilter{Type: "type.7"}, p)
	}) {
		seen[d.ID.Event]++
	}
	if len(seen) != events/100 || pages < 2 {
		t.Errorf("%d deliveries on %d pages; want %d, and a short page", len(seen), pages, events/100)
	}
	for _, e := range all(t, 100, func(p page.Request) (page.List[status.ListedEvent], error) {
		defer count()
		return r.Events(t.Context(), tenant, status.EventFilter{Type: "type.7"}, p)
	}) {
		seen[e.ID]++
	}
	for id, n := range seen {
		if n != 2 {
			t.Errorf("%s is listed %d times; want once as a delivery and once as an event", id, n)
		}
	}
}

// laterRows leaves out the newest rows of each part, as written by a later build.
type laterRows struct {
	status.Store

	until int64 // only rows up to this time are readable
}

func (l *laterRows) DeliveryRows(ctx context.Context, part status.Part, span status.Span, look int) ([]status.Row, *status.Position, error) {
	rows, last, err := l.Store.DeliveryRows(ctx, part, span, look)
	return slices.DeleteFunc(rows, func(r status.Row) bool { return r.At > l.until }), last, err
}

// Rows that this build cannot read, more of them than a look takes, hide none behind them.
func TestReader_Deliveries_behindUnreadableRows(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e := b.create(t)
	const events = 3000
	for n := range events {
		if err := porttest.PostTo(t.Context(), b.store, hook.KeyedEventID(tenant, fmt.Sprint(n)), n, []hook.Target{e.Target()}); err != nil {
			t.Fatal(err)
		}
	}
	oldest := all(t, 100, func(p page.Request) (page.List[hook.Delivery], error) {
		return b.Deliveries(t.Context(), tenant, status.DeliveryFilter{}, p)
	})
	oldest = oldest[len(oldest)-100:]
	b.Store = &laterRows{b.store, oldest[0].AcceptedAt}
	got := all(t, 100, func(p page.Request) (page.List[hook.Delivery], error) {
		return b.Deliveries(t.Context(), tenant, status.DeliveryFilter{}, p)
	})
	if diff := cmp.Diff(oldest, got); diff != "" {
		t.Errorf("deliveries behind %d rows of a later build (-want +got):\n%s", events-len(oldest), diff)
	}
}

// A page of events ends early between two deliveries of an event, which is then the last of the page and
// not on the next one.
func TestReader_Events_endWithinAnEvent(t *testing.T) {
	t.Parallel()

	const endpoints, events = 200, 60
	s := memory.NewStore()
	targets := make([]hook.Target, endpoints)
	for i := range targets {
		id := hook.NewEndpointID()
		e := hook.Endpoint{ID: id, Tenant: tenant, URL: "https://example.com/" + string(id), Shards: 1}
		if err := s.CreateEndpoint(t.Context(), e); err != nil {
			t.Fatalf("CreateEndpoint = %v", err)
		}
		targets[i] = e.Target()
	}
	for n := range events {
		if err := porttest.PostTo(t.Context(), s, hook.KeyedEventID(tenant, fmt.Sprint(n)), n, targets); err != nil {
			t.Fatal(err)
		}
	}
	r, pages := porttest.ListReader(s, porttest.NewCountedLists(s)), 0
	seen := make(map[hook.EventID]int)
	for _, e := range all(t, 100, func(p page.Request) (page.List[status.ListedEvent], error) {
		pages++
		return r.Events(t.Context(), tenant, status.EventFilter{}, p)
	}) {
		if seen[e.ID]++; seen[e.ID] > 1 {
			t.Errorf("%s is listed again, on page %d", e.ID, pages)
		}
	}
	if len(seen) != events || pages < 2 {
		t.Errorf("%d events on %d pages; want %d, and a short page", len(seen), pages, events)
	}
}
