package sim_test

import (
	"fmt"
	"time"

	"surehook.example/surehook/internal/delivery/ingest"
)

// begin plans the events, endpoints and operations of the run.
func (w *simulation) begin() {
	crowd := 0 // 1: many endpoints, 2: many events of one endpoint
	if w.level.crowds > 0 && w.seed%w.level.crowds == 0 {
		crowd = 1 + w.rng.IntN(2)
	}
	endpoints := 3 + w.rng.IntN(3)
	if crowd == 1 {
		endpoints = 50
	}
	w.crowded = crowd == 2
	for range endpoints {
		w.newEndpoint()
	}
	w.planErasure()
	if w.crowded {
		w.planCrowd()
	}
	for range w.rng.IntN(2) {
		w.plan.add(start.Add(w.within(suffering)), w.newEndpoint)
	}
	if w.flapping {
		w.planFlaps()
	}
	if w.purging() {
		w.planPurges()
	}
	bursts := []time.Duration{w.within(suffering), w.within(suffering), w.within(suffering)}
	for n := range 8 + w.rng.IntN(14) {
		w.planClient(n, bursts)
	}
	for range w.rng.IntN(w.level.operators) {
		w.plan.add(start.Add(w.within(suffering)), w.operate)
	}
	w.planRestore()
	w.planOrder()
	w.plan.add(start.Add(suffering), w.calmDown)
	w.plan.add(start.Add(suffering+time.Minute), w.wakeUp)
	w.functions()
}

func (w *simulation) planClient(n int, bursts []time.Duration) {
	c := &client{tenant: pick(w, w.tenants()...), keyed: w.chance(0.8)}
	for i := range pick(w, 1, 1, 1, 2, 5) {
		r := ingest.Request{Type: pick(w, "order.paid", "order.sent", "user.gone"), Payload: fmt.Appendf(nil, `{"n":%d}`, pick(w, 1, 1, 2, 3))}
		if c.keyed {
			r.IdempotencyKey = fmt.Sprintf("key-%d-%d", n, i)
		}
		w.drawRetention(&r)
		c.requests = append(c.requests, r)
	}
	w.drawOrder(c)
	w.drawTwice(c)
	at := start.Add(w.within(suffering))
	if w.chance(0.6) {
		at = start.Add(pick(w, bursts...) + w.within(3*time.Second))
	}
	again := 0.15
	if w.twins {
		again = 0.7
	}
	w.posting++
	w.plan.add(at, func() { w.post(c) })
	if c.keyed && w.chance(again) { // a client without an answer posts again
		c := &client{tenant: c.tenant, requests: c.requests, keyed: true}
		w.posting++
		w.plan.add(at.Add(w.within(2*time.Minute)), func() { w.post(c) })
	}
}

// planCrowd plans more than a full wave of events for one endpoint during an outage.
func (w *simulation) planCrowd() {
	e := w.endpoints[0]
	e.troubles = []span{{from: start, to: start.Add(10 * time.Minute)}}
	payload := []byte(`{"n":1}`)
	if !filterPasses(e.Filter, payload) {
		payload = []byte(`{"n":2}`)
	}
	for n := range 11 {
		c := &client{tenant: e.Tenant, keyed: true}
		for i := range 100 {
			c.requests = append(c.requests, ingest.Request{
				Type: "order.paid", Payload: payload, IdempotencyKey: fmt.Sprintf("crowd-%d-%d", n, i),
			})
		}
		w.posting++
		w.plan.add(start.Add(w.within(5*time.Minute)), func() { w.post(c) })
	}
}
