package sim_test

import (
	"fmt"
	"time"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/world"
)

// Some clients use an idempotency key twice in one request, also for another payload: the first use
// wins, and the second is a repeat or a conflict. Some events, and all of some tenants, are kept for
// less time than the environment's.

// use is what a client asked for with the first use of an idempotency key.
type use struct {
	payload string
	retain  time.Duration
}

func useKey(tenant hook.TenantID, key string) string { return string(tenant) + " " + key }

// asks notes the first uses of the client's keys.
func (w *simulation) asks(c *client) {
	for _, r := range c.requests {
		if name := useKey(c.tenant, r.IdempotencyKey); r.IdempotencyKey != "" && w.uses[name] == (use{}) {
			w.uses[name] = use{string(r.Payload), r.RetainFor}
		}
	}
}

// drawTwice lets the client use one of its keys twice in its request.
func (w *simulation) drawTwice(c *client) {
	if !c.keyed || w.sources.on || !w.chance(0.3) {
		return
	}
	i := w.rng.IntN(len(c.requests))
	again := c.requests[i]
	if w.chance(0.5) {
		again.Payload = fmt.Appendf(nil, `{"n":%d,"other":true}`, pick(w, 1, 2, 3))
	}
	w.count("keys twice in one request")
	c.requests = append(c.requests, again)
}

// drawRetention lets the event be kept for a shorter time.
func (w *simulation) drawRetention(r *ingest.Request) {
	if !w.sources.on && w.chance(0.1) {
		r.RetainFor = hook.MinRetention
	}
}

// drawBrief lets a tenant keep its events for a shorter time.
func (w *simulation) drawBrief() {
	w.kept = make(map[hook.TenantID]time.Duration)
	if w.sources.on || !w.chance(0.2) {
		return
	}
	tenant := pick(w, w.tenants()...)
	w.kept[tenant] = hook.MinRetention
	if err := w.store.SetTenantLimits(w.ctx, tenant, hook.TenantLimits{RetainFor: hook.MinRetention}); err != nil {
		w.fail(checkSetup, "set limits: %v", err)
	}
}

// checkFirstUse: an event has the payload of the first use of its key, and the shortest retention of
// the environment, its tenant and itself.
func (w *simulation) checkFirstUse(p *process, e hook.Event) {
	first, known := w.uses[useKey(e.Tenant, e.IdempotencyKey)]
	if known && first.payload != string(e.Payload) {
		w.fail(checkFirstUse, "%s stores %s with the payload %s; the first use of its key has %s", p.name, e.ID, e.Payload, first.payload)
	}
	if known && w.late == 0 {
		want := world.Retention
		for _, shorter := range []time.Duration{w.kept[e.Tenant], first.retain} {
			if shorter != 0 {
				want = min(want, shorter)
			}
		}
		if got := e.ExpiresAt.Sub(e.AcceptedAt); got > want || got <= want-time.Second { // records expire at whole seconds
			w.fail(checkRetention, "%s stores %s to be kept for %s; want %s", p.name, e.ID, got, want)
		}
	}
}

// clashes reports whether the request is the second use of a key, for another payload.
func (w *simulation) clashes(c *client, r ingest.Request) bool {
	first, known := w.uses[useKey(c.tenant, r.IdempotencyKey)]
	return known && first.payload != string(r.Payload)
}
