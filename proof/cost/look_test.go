package cost_test

import (
	"context"
	"testing"
	"time"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/delivery/backlog"
	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/rule/stats"
	"surehook.example/surehook/proof/cost"
)

// noQueues are queues without messages.
type noQueues struct{}

func (noQueues) Depths(context.Context) (depths names.Queues[status.Depth], err error) {
	return depths, nil
}

// mostLooked is the read units of counting at a look: 10 for an endpoint with one shard, and for others 1.5 a shard.
func mostLooked(shards int) float64 { return max(10, 1.5*float64(shards)) }

// A look counts for few read units, whatever waits. The whole is counted by a review.
func TestLook_units(t *testing.T) {
	t.Parallel()

	for shards, many := range map[int]int{1: 10_000, 2: 1000, 6: 1000, hook.MaxShards: 1000} { // of each state
		w := newBundle(t, 1, 1)
		var e hook.Endpoint
		w.endpoint(func(made *hook.Endpoint) {
			made.Shards = shards
			e = *made
		})
		var failed stats.Counts
		failed.Count(stats.Attempt{Class: hook.ClassTimeout, Number: 1, State: hook.StateRetrying})
		if _, err := w.store.Count(t.Context(), e.Tenant, e.ID, &failed, w.clock()); err != nil {
			t.Fatal(err)
		}
		record, err := w.store.Circuit(t.Context(), e.Tenant, e.ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.store.SaveCircuit(t.Context(), record.ExpectParked(w.clock())); err != nil { // the overview finds the endpoint
			t.Fatal(err)
		}
		admin := &endpoint.Admin{Store: w.store, Vault: memory.Vault{}, Policy: egress.Policy{}, Now: w.clock}
		reader := &status.Reader{Endpoints: admin, Store: w.store, Queues: noQueues{}, Now: w.clock}
		looks := []struct {
			name string
			look func() (waiting int, of backlog.Counted, err error)
		}{
			{"health of the endpoint", func() (int, backlog.Counted, error) {
				h, err := reader.Health(t.Context(), e.Tenant, string(e.ID))
				return h.Deliveries.Retrying + h.Deliveries.Parked, h.Counted, err
			}},
			{"health of the tenant", func() (int, backlog.Counted, error) {
				h, err := reader.TenantHealth(t.Context(), e.Tenant, "")
				return h.Waiting.Retrying + h.Waiting.Parked, h.Waiting.Counted, err
			}},
			{"attention", func() (int, backlog.Counted, error) {
				l, err := reader.Attention(t.Context(), e.Tenant, page.Request{Limit: 1})
				for _, e := range l.Data {
					return e.Waiting, e.Counted, err
				}
				return 0, backlog.Counted{}, err
			}},
			{"overview", func() (int, backlog.Counted, error) {
				p, err := reader.Pipeline(t.Context())
				return p.Retrying + p.Parked, p.Counted, err
			}},
		}
		read := func(do func()) float64 {
			w.ledger.Reset()
			do()
			return w.account().Usage[cost.ReadUnit]
		}
		const none = 1.5 // of counting nothing, for each shard
		before := make([]float64, len(looks))
		for i, l := range looks {
			before[i] = read(func() {
				if n, _, err := l.look(); err != nil || n != 0 {
					t.Fatalf("%s: %d, %v", l.name, n, err)
				}
			}) - none*float64(shards)
		}
		for _, state := range []hook.State{hook.StateParked, hook.StateRetrying, hook.StateDead} {
			w.fillWith(e, state, many)
		}
		reviewed := read(func() {
			if err := w.breaker.Review(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
		t.Logf("%d shards: a review of %d takes %g read units", shards, 3*many, reviewed)
		if most := float64(3*many)/20/2 + 20 + 12*float64(shards); reviewed > most {
			t.Errorf("with %d shards a review of %d takes %g read units; want at most %g", shards, 3*many, reviewed, most)
		}
		for i, l := range looks {
			units := read(func() {
				if n, of, err := l.look(); err != nil || n != 2*many || !of.Complete || !of.AsOf.Equal(w.clock()) {
					t.Errorf("%s: %d waiting, %+v, %v; want all of them, as the review counted", l.name, n, of, err)
				}
			}) - before[i]
			t.Logf("%d shards: %s counts for %g read units", shards, l.name, units)
			if units > mostLooked(shards) {
				t.Errorf("with %d shards %s counts for %g read units; want at most %g", shards, l.name, units, mostLooked(shards))
			}
		}
	}
}

// fillWith stores n deliveries in the state.
func (w *bundle) fillWith(e hook.Endpoint, state hook.State, n int) {
	w.t.Helper()

	for i := range n {
		at := w.clock().Add(-time.Duration(i) * time.Second)
		id := w.ids.Event()
		d := hook.QueuedDelivery(hook.Event{ID: id, Tenant: e.Tenant, Type: "order.paid", AcceptedAt: at, ExpiresAt: at.Add(90 * 24 * time.Hour), Targets: []hook.Target{e.Target()}}, e.Target())
		d.State, d.CreatedAt = state, at
		if err := w.store.SaveDelivery(w.t.Context(), d, nil); err != nil {
			w.t.Fatal(err)
		}
	}
}
