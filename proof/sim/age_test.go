package sim_test

import (
	"context"
	"slices"
	"time"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory/table"
	"surehook.example/surehook/proof/world"
)

// lateLife is the duration of a run's second part. With an order, it begins before the last hour of the records, in
// which the sweep brings each delivery that waits to its end.
func (w *simulation) lateLife() time.Duration {
	if w.ordered {
		return 40*time.Minute + closing
	}
	return 40 * time.Minute
}

const closing = 80 * time.Minute

// mayEnd reports whether nobody does anything more, and no fault is left.
func (w *simulation) mayEnd() bool {
	return w.quiet && !w.restoreAhead && (w.late == 0 || w.now.After(w.quietAt.Add(w.lateLife())))
}

// age begins the second part of the run, around the expiry time of the records: the
// table removes events and deliveries in any order, each soon or much later. Clients
// repeat posts, and operators replay. false: the run has no second part.
func (w *simulation) age() bool {
	if w.restores || w.broken != "" || len(w.posted) == 0 || len(w.posted) > 500 || !w.chance(0.25) {
		return false
	}
	retention := world.Retention
	// With an order, what waits must not expire unseen: the sweep brings it to its end.
	if (w.ordered || w.chance(0.5)) && slices.ContainsFunc(w.posted, func(e hook.Event) bool { return e.ExpiresAt.Sub(e.AcceptedAt) < retention }) {
		retention = hook.MinRetention
	}
	w.now = start.Add(retention - 10*time.Minute)
	if w.ordered {
		w.now = w.now.Add(-closing)
	}
	w.quietAt, w.redriven = w.now, w.now
	w.note("the records expire")
	w.count("runs with an expiry")
	for range 4 + w.rng.IntN(8) {
		w.plan.add(w.now.Add(w.within(w.lateLife())), w.postAgain)
		w.plan.add(w.now.Add(w.within(w.lateLife())), func() {
			if d, tenant, ok := w.someDelivery(); ok {
				w.operateDelivery(14+w.rng.IntN(6), d.DeliveryID, tenant)
			}
		})
	}
	w.plan.add(w.now.Add(w.within(w.lateLife())), w.redriveLetters)
	w.plan.add(w.now.Add(w.lateLife()+time.Minute), w.redriveUndeliverable)
	w.late = pick(w, 0.01, 0.1, 0.7)
	for at := w.now; at.Before(w.now.Add(w.lateLife())); at = at.Add(20 * time.Second) {
		w.plan.add(at, w.removeExpired)
	}
	w.functions()
	return true
}

// functions starts the schedules of the functions.
func (w *simulation) functions() {
	w.every(time.Minute, "tick", func(ctx context.Context, p *process) { _ = p.wiring().Breaker().Tick(ctx) })
	w.every(5*time.Minute, "look", func(ctx context.Context, p *process) { _ = p.wiring().Breaker().Look(ctx) })
	w.every(5*time.Minute, "reconcile", func(ctx context.Context, p *process) {
		_ = p.wiring().Breaker().ReconcileDeadLetters(ctx)
	})
	if w.sweeper {
		w.planSweep()
	}
	w.every(15*time.Minute, "review", func(ctx context.Context, p *process) { _ = p.wiring().Breaker().Review(ctx) })
}

// postAgain posts some stored event again: a duplicate, or a new event with the same
// idempotency key after the end of the other event.
func (w *simulation) postAgain() {
	e := w.posted[w.rng.IntN(len(w.posted))]
	if e.IdempotencyKey == "" {
		return
	}
	w.posting++
	w.post(&client{tenant: e.Tenant, keyed: true, requests: []ingest.Request{{
		Type: e.Type, Payload: slices.Clone(e.Payload), IdempotencyKey: e.IdempotencyKey, OrderingKey: e.OrderingKey,
	}}})
}

// removeExpired removes some of the expired records, in any order.
func (w *simulation) removeExpired() {
	removed := w.store.Table.Expire(w.now, func(table.Key) bool { return w.chance(w.late) })
	w.counts["records removed"] += removed
	if removed == 0 {
		return
	}
	for _, id := range w.recorded {
		if _, err := w.store.Delivery(w.ctx, id); !w.removed[id] && hook.CodeOf(err) == hook.CodeNotFound {
			w.removed[id] = true
			w.note("delivery %s is removed", id)
		}
	}
}
