package sim_test

import (
	"maps"
	"slices"
	"strings"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/memory/table"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
)

// checkDone checks the traces of a process that came to its end without a fault.
func (w *simulation) checkDone(p *process) {
	if slices.ContainsFunc(p.batch, func(m memory.Message) bool { return w.lapses(m.Task.Delivery.Endpoint) }) {
		return
	}
	w.checkBill(p)
	w.checkGivenBack(p)
	w.checkFewRequests(p)
	if p.dead || !p.done || w.now.After(p.deadline) {
		return
	}
	for _, sent := range p.made {
		w.checkPersists(p, sent)
	}
	if p.hurt {
		return
	}
	for _, sent := range p.made {
		if p.reads(sent.of.DeliveryID) {
			w.checkAnswer(p, sent)
		}
	}
	w.checkSlots(p)
	w.checkProbeLease(p)
	for id := range p.turned {
		if p.reads(hook.DeliveryID{Endpoint: id}) {
			w.fail(checkClosing, "%s opened or closed the circuit of %s, and asked for no check", p.name, id)
		}
	}
	for what := range p.owes {
		_, id, _ := strings.Cut(what, " ")
		if p.reads(hook.DeliveryID{Endpoint: hook.EndpointID(id)}) {
			w.fail(checkTold, "%s tells nobody: %s", p.name, what)
		}
	}
}

// checkOthers: after a read that left keys unprocessed, or that met words of a later build,
// the tasks of other keys go on.
func (p *process) checkOthers() {
	if p.dead || p.boundlessBatch() || len(p.made) > 0 || p.refusals > 0 || len(p.failed) < len(p.batch) || p.last == nil {
		return
	}
	if p.deadline.Sub(p.now) < hook.MaxTimeout+10*time.Second {
		return // no time is left for an attempt, and perhaps for the way to a sender
	}
	left := p.last.op == "BatchGetItem" && len(p.last.left) > 0
	if !left && (p.hurt || len(p.unknown) == 0) {
		return
	}
	unread := slices.AppendSeq(slices.Clone(p.unknown), maps.Keys(p.last.left))
	for _, m := range p.batch {
		d := m.Task.Delivery
		early := m.Task.ReplayRequest.Redrive // a letter may come before the record of the death, and then returns
		limits, err := p.store.Limits(p.ctx, d.Endpoint)
		busy := err == nil && limits.Leases[admission.LeaseKey(d.DeliveryID)].Run != "" // another copy has the slot
		if !early && !busy && !slices.ContainsFunc(unread, func(k table.Key) bool { return concerns(k, d.DeliveryID) }) {
			p.fail(checkOthers, "%s fails %s, whose keys were read", p.name, d)
		}
	}
}

// checkAnswer: 410 disabled the endpoint, unless it was a test, and 429 throttled it.
func (w *simulation) checkAnswer(p *process, sent *post) {
	s, c, d := w.statuses[sent.of.Endpoint], w.circuits[sent.of.Endpoint], w.records[sent.of.DeliveryRef]
	if !s.deleted.IsZero() || sent.ended.IsZero() {
		return
	}
	if o := sent.outcome; o.Class == hook.ClassThrottled && !sent.test && c.lifted.Before(sent.at) && c.ThrottledUntil.Before(sent.ended.Add(o.RetryAfter-2*w.mostSkew())) {
		w.fail(checkRetryAfter, "%s: %s answered 429 for %s, and is throttled until %s", p.name, s.ID, o.RetryAfter, c.ThrottledUntil.Sub(start))
	}
	if d.Reason == hook.ReasonGone && !d.ID.Event.IsTest() && d.Attempts == sent.of.number && s.Status != hook.StatusDisabled && s.changed.Before(sent.at.Add(-2*w.mostSkew())) {
		w.fail(checkGone, "%s: %s answered 410, and is %s", p.name, s.ID, s.Status)
	}
}

// checkSlots: the process handed over the slots that it took, and left the tenant's shares of its
// attempts. A task whose message comes again keeps both.
func (w *simulation) checkSlots(p *process) {
	for _, m := range p.batch {
		of := attempt{m.Task.Delivery, m.Task.Attempt}
		if !p.reads(of.DeliveryID) || p.beaten[of.Endpoint] >= mostTries || slices.Contains(p.failed, m.ID) { // the slot expires
			continue
		}
		limits, err := w.store.Limits(w.ctx, of.Endpoint)
		key := admission.LeaseKey(of.DeliveryID)
		lease, ok := limits.Leases[key]
		if err != nil || ok && lease.Run != "" && lease.Run == p.slots[key].Run && w.now.Before(lease.Until) {
			w.fail(checkSlot, "%s kept its slot of %s until %s (%v)", p.name, of.Endpoint, lease.Until.Sub(start), err)
		}
		made := slices.ContainsFunc(p.made, func(s *post) bool { return s.of == of })
		if !made || p.of != hook.QueueSlot || m.ReceiveCount > 1 || len(w.blamed[of.DeliveryRef]) > 0 {
			continue // a copy of the task may have taken the share again
		}
		shares, err := w.store.Shares(w.ctx, m.Task.Tenant)
		holder := admission.Due{Delivery: of.DeliveryID, Attempt: of.number, Nonce: m.Task.Nonce}.ShareKey()
		if share, ok := shares.Leases[holder]; err != nil || ok && w.now.Before(share.Until) {
			w.fail(checkSlot, "%s kept its share of %s until %s (%v)", p.name, m.Task.Tenant, share.Until.Sub(start), err)
		}
	}
}

// mostTries is how often the limits are written after conflicts.
const mostTries = 20

// checkGivenBack: an admission that fails because the answer to its slot is lost gives the slot back,
// unless another request to the endpoint's limits fails, too.
func (w *simulation) checkGivenBack(p *process) {
	if p.dead || !p.done || w.now.After(p.deadline) {
		return
	}
	for key, id := range p.lost {
		if p.spoilt[id] > 1 || p.beaten[id] >= mostTries || !p.reads(hook.DeliveryID{Endpoint: id}) {
			continue
		}
		limits, err := w.store.Limits(w.ctx, id)
		if lease, ok := limits.Leases[key]; err != nil || ok && lease.Run == p.slots[key].Run && w.now.Before(lease.Until) {
			w.fail(checkSlot, "%s kept the slot %s of %s after a failed admission until %s (%v)", p.name, key, id, lease.Until.Sub(start), err)
		}
	}
}

// longestWait is the longest wait of a delivery without a reason: the visibility timeout
// of a message of a dead process, and some minutes for the way.
const longestWait = visibility + 6*time.Minute

// The breaker forgets an endpoint whose parked deliveries the index does not list for
// emptyPeriod, and asks the index again after firstLook.
const (
	emptyPeriod = 2 * time.Minute
	firstLook   = 15 * time.Minute
)

// checkLateness: a delivery waits only for the end of its endpoint's trouble, for its turn,
// and for the time that its last fault costs.
func (w *simulation) checkLateness() {
	if w.undeliverable() > 0 || w.losing || w.dark() {
		return
	}
	common := later(later(w.quietAt, w.redriven), w.disturbed)
	for _, b := range w.blackouts {
		if !b.to.After(w.now) {
			common = later(common, b.to)
		}
	}
	for _, id := range w.recorded {
		d := w.records[id]
		s, c := w.statuses[id.Endpoint], w.circuits[id.Endpoint]
		if d.State.Settled() || w.lapses(id.Endpoint) || s.Status != hook.StatusActive || c.State == circuit.Open || c.State == circuit.HalfOpen {
			continue
		}
		waits, tasked := w.awaits(d)
		if waits {
			continue
		}
		since := common
		for _, t := range []time.Time{tasked, w.moved[id], w.hit[id], w.troubled[id.Endpoint], d.NextAttemptAt, s.inactive, s.active, c.opened, c.ThrottledUntil, c.lifted} {
			since = later(since, t)
		}
		if seen := w.listed[id]; seen.Sub(w.moved[id]) > emptyPeriod && seen.After(s.inactive) {
			since = later(since, seen.Add(firstLook))
		}
		if wait := w.now.Sub(since) - longestWait - w.mostSkew(); wait > 0 && wait > w.turn(id.Endpoint, since) {
			w.fail(checkLate, "%s is %s (%s) for %s without a reason", id, d.State, d.Reason, w.now.Sub(since))
		}
	}
}

// turn returns how long a delivery may wait for the others at an endpoint with limits. Two
// tasks in three may lose their slots to faults, throttles or chance.
func (w *simulation) turn(id hook.EndpointID, since time.Time) time.Duration {
	s := w.statuses[id]
	others := 0
	for _, other := range w.recorded {
		if other.Endpoint == id && (!w.records[other].State.Settled() || w.settled[other].After(since)) {
			others++
		}
	}
	var each time.Duration
	if s.RatePerSecond > 0 {
		each = time.Duration(float64(time.Second) / s.RatePerSecond)
	}
	if s.MaxInFlight > 0 || w.circuits[id].slow {
		each += s.Timeout + 5*time.Second
	}
	return time.Duration(3*others) * each
}

// disturb notes a fault of a process that serves no batch: it may keep deliveries waiting.
func (p *process) disturb() {
	switch {
	case p.batch != nil:
	case p.check.Endpoint != "":
		p.troubled[p.check.Endpoint] = p.now
	default:
		p.disturbed = p.now
	}
}

// checkLease: a lease ends within two minutes.
func (w *simulation) checkLease(p *process, id hook.EndpointID, until, made time.Time) {
	if until.Sub(made) > leaseFor+2*w.mostSkew() {
		w.fail(checkLease, "%s leases until %s from now at %s", p.name, until.Sub(made), id)
	}
}

// checkClaims: a claim takes no lease from another task, or a delivery claimed again and again would never be
// sent. Nor does an attempt, but that of the claim of another task of the delivery, which is sent then.
func (w *simulation) checkClaims(p *process, id hook.EndpointID, before admission.Limits, delta admission.Delta, made time.Time) {
	for key, next := range delta.Changed {
		old := before.Leases[key]
		own := old.Nonce == next.Nonce || slices.ContainsFunc(p.batch, func(m memory.Message) bool { return m.Task.Nonce == old.Nonce })
		begins := old.Run == "" && next.Run != ""
		if !own && !begins && made.Add(2*w.mostSkew()).Before(old.Until) {
			w.fail(checkClaim, "%s takes the slot %s of %s from a task that may use it until %s from now", p.name, key, id, old.Until.Sub(made))
		}
	}
}

// leaseFor is the documented duration of a lease.
const leaseFor = 2 * time.Minute

// checkChange checks a write of a circuit record by the process.
func (w *simulation) checkChange(p *process, c circuits, r admission.Record) {
	id := r.Endpoint
	wasOpen := c.State == circuit.Open || c.State == circuit.HalfOpen
	if p.batch != nil && r.Generation != c.Generation {
		p.turned[id] = true
	}
	switch {
	case r.State == circuit.HalfOpen:
		w.checkLease(p, id, r.LeaseUntil, w.now)
	case wasOpen && r.State == circuit.Closed && r.Waiting:
		p.turned[id] = true
	case !wasOpen && (r.State == circuit.Open || r.Failures != c.Failures) && p.batch != nil && !w.madeSince(p, id, c.began):
		w.fail(checkResult, "%s makes the circuit of %s %v with %d failures by results from before its closing", p.name, id, r.State, r.Failures)
	case !wasOpen && r.Wave > 1 && r.Wave == max(c.Wave, 1)+1:
		if p.waves[id] = r.Wave - 1; p.check.Wave != 0 && p.check.Wave != p.waves[id] {
			w.fail(checkWave, "%s releases wave %d of %s, and was asked for wave %d", p.name, p.waves[id], id, p.check.Wave)
		}
	}
}

// owe notes what a process of function deliver has to tell about the endpoint.
func (p *process) owe(what string, id hook.EndpointID) {
	if p.batch != nil {
		p.owes[what+" "+string(id)] = true
	}
}

// madeSince reports whether an attempt of the process at the endpoint began after the time.
func (w *simulation) madeSince(p *process, id hook.EndpointID, began time.Time) bool {
	for _, s := range p.made {
		if s.of.Endpoint == id && !s.at.Before(began) {
			return true
		}
	}
	return began.IsZero()
}

// checkSent checks the tasks of one request of the breaker: a wave is no larger
// than documented, and one probe has one task.
func (w *simulation) checkSent(p *process, tasks []hook.Task) {
	id := tasks[0].Delivery.Endpoint
	c := w.circuits[id]
	if tasks[0].Slot || w.lapses(id) { // of the endpoint's in-flight slots
		return
	}
	if wave := p.waves[id]; wave > 0 {
		if most := min(1<<min(wave-1, 10), 500); len(tasks) > most {
			w.fail(checkWave, "%s releases %d deliveries in wave %d of %s; at most %d", p.name, len(tasks), wave, id, most)
		}
		return
	}
	// The process may be slow between its write and its request, and may have decided
	// before the other process wrote, or soon after by a clock that is behind.
	at, before := p.saved[id], p.probed[id]
	since := at.Sub(before)
	if p.started.Sub(before) > 2*w.mostSkew() && !before.IsZero() && since < admission.AttendAfter/4 {
		w.fail(checkProbeTask, "%s sends a task for a probe of %s %s after another task", p.name, id, since)
	}
	if c.changed.After(at) {
		return // another process, with a slower clock, planned the probe again before this request
	}
	c.probed = at
	w.circuits[id] = c
}
