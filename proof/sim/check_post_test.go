package sim_test

import (
	"slices"
	"strings"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/retry"
	"surehook.example/surehook/internal/rule/settlement"
)

// sawPost checks the request, and draws the answer of the endpoint. Each delivery of a
// batch has an attempt of its own, with the answer to the batch.
func (w *simulation) sawPost(p *process, r send.Request, from origin) *exchange {
	id := r.Delivery.Endpoint
	i := slices.IndexFunc(w.endpoints, func(e *endpoint) bool { return e.id == id })
	e := w.endpoints[i]
	members := w.membersOf(p, r)
	w.checkKnown(p, members)
	x := &exchange{p: p, at: w.now, outcome: w.answer(e, r, members), by: *r.Endpoint}
	if from == ofCloud {
		x.outcome = w.ofAWS(x.outcome)
	}
	x.outcome.RetryAfter, _ = retry.Wait(x.outcome.Class, x.outcome.RetryAfter, r.Endpoint) // as package attempt does
	if w.lapses(id) {
		return w.sawLast(p, x, r, members)
	}
	w.checkSettings(p, r)
	w.checkPlace(p, r, from)
	w.checkContent(p, r)
	if r.Endpoint.Coalesce.On() {
		w.checkBatch(p, r, members)
		w.count("batches")
	}
	for _, m := range members {
		sent := &post{exchange: x, of: m.of, asked: w.askedOf(p, m.of), alone: w.goesAlone(r.Endpoint, w.records[m.of.DeliveryRef]), test: p.tests(m.of)}
		w.checkDue(p, r.Endpoint, m.of)
		w.checkTwice(p, sent)
		w.checkTurn(p, r, m.of)
		x.members = append(x.members, sent)
	}
	lead := x.members[w.leaderOf(p, r, members)]
	w.checkOpen(p, lead)
	w.checkLimits(e, lead)
	for _, sent := range x.members {
		w.posts[sent.of.DeliveryRef] = append(w.posts[sent.of.DeliveryRef], sent)
		w.count("attempts")
		if sent.outcome.Class == hook.ClassDelivered {
			w.count("attempts that delivered")
		}
	}
	w.wire[id] = append(w.wire[id], lead)
	p.made = append(p.made, x.members...)
	return x
}

// checkDue: the delivery is not settled, the attempt is new, in time and within the policy, and the endpoint is active.
func (w *simulation) checkDue(p *process, e *hook.Endpoint, of attempt) {
	d, s := w.records[of.DeliveryRef], w.statuses[e.ID]
	made, was := w.attempts[of.DeliveryRef][of.number]
	apart := 2 * w.mostSkew()
	most := 0 // an attempt may be planned by an earlier policy
	for _, known := range s.settings {
		most = max(most, len(known.Retry.Schedule)+1)
	}
	created := w.created(of.DeliveryRef)
	switch {
	case d.State.Settled() && w.moved[of.DeliveryRef].Before(p.started):
		w.fail(checkSettled, "%s: attempt %d of %s, which is %s", p.name, of.number, of.DeliveryID, d.State)
	case was && made.Before(p.started):
		w.fail(checkSettled, "%s: attempt %d of %s, which is recorded already", p.name, of.number, of.DeliveryID)
	case d.Attempts < of.number-1:
		w.fail(checkOrder, "%s: attempt %d of %s after %d", p.name, of.number, of.DeliveryID, d.Attempts)
	case of.number > most && w.written[of.DeliveryRef].Before(p.started) && (of.number > most+1 || !settlement.RejectedTogether(e, &d.Last)): // once more, alone
		w.fail(checkPolicy, "%s: attempt %d of %s; its policy has %d", p.name, of.number, of.DeliveryID, most)
	case d.State == hook.StateRetrying && d.Attempts == of.number-1 && w.written[of.DeliveryRef].Before(p.started) &&
		p.clock().Before(d.NextAttemptAt.Add(-tolerance)):
		w.fail(checkEarly, "%s: attempt %d of %s is made %s before its time", p.name, of.number, of.DeliveryID, d.NextAttemptAt.Sub(p.clock()))
	case p.started.Sub(created) > e.MaxAge+apart:
		w.fail(checkAge, "%s: attempt %d of %s, which is %s old", p.name, of.number, of.DeliveryID, p.started.Sub(created))
	case !s.deleted.IsZero() && s.deleted.Before(p.started):
		w.fail(checkStatus, "%s: attempt of %s, whose endpoint was deleted", p.name, of.DeliveryID)
	case s.Status != hook.StatusActive && s.active.Before(p.started):
		w.fail(checkStatus, "%s: attempt of %s, whose endpoint is %s", p.name, of.DeliveryID, s.Status)
	}
	if before, replay := of.Predecessor(); replay && !w.records[before].State.Settled() {
		w.fail(checkGenerations, "%s: attempt of %s, and the generation before is %s", p.name, of.DeliveryID, w.records[before].State)
	}
}

func (w *simulation) mostSkew() time.Duration { return w.level.skew }

// created returns the start of the delivery.
func (w *simulation) created(d hook.DeliveryRef) time.Time {
	if before, replay := d.Predecessor(); replay {
		return later(w.records[before].Replayed.At, w.turnOf(d))
	}
	return later(time.UnixMilli(d.AcceptedAt), w.turnOf(d))
}

// tests reports whether the attempt is that of a test event that its owner has just sent.
func (p *process) tests(of attempt) bool {
	return slices.ContainsFunc(p.batch, func(m memory.Message) bool {
		return m.Task.Delivery == of.DeliveryRef && m.Task.Attempt == of.number && m.Task.Test()
	})
}

// checkOpen: during an open circuit the only attempts are the probe and test events.
func (w *simulation) checkOpen(p *process, sent *post) {
	if sent.test {
		return
	}
	id := sent.of.Endpoint
	c := w.circuits[id]
	if w.now.Add(2*w.mostSkew()).Before(c.ThrottledUntil) && c.throttled.Before(p.started) {
		w.fail(checkThrottled, "%s: attempt of %s, whose endpoint asked to be left alone until %s", p.name, sent.of.DeliveryID, c.ThrottledUntil.Sub(start))
	}
	if c.open.IsZero() {
		return
	}
	sent.apart = true
	w.lookAgain(id)
	if !c.open.Before(p.started) {
		return // the gate may have admitted the attempt before the circuit opened
	}
	if !slices.ContainsFunc(c.leases, func(l lease) bool {
		return l.of(sent.of) && (l.to.IsZero() || !l.to.Before(p.started))
	}) {
		w.fail(checkOpen, "%s: attempt of %s, whose circuit is %s, and it is not the probe", p.name, sent.of.DeliveryID, c.State)
	}
	for _, other := range w.wire[id] {
		if other.ended.IsZero() && !other.p.dead && other.of.DeliveryID != sent.of.DeliveryID && c.open.Before(other.p.started) &&
			!c.ranOut(other.of, w.now, w.mostSkew()) {
			w.fail(checkProbe, "%s: probe %s beside probe %s", p.name, sent.of.DeliveryID, other.of.DeliveryID)
		}
	}
}

// of reports whether a task of the attempt holds the lease.
func (l lease) of(a attempt) bool {
	return strings.HasPrefix(l.holder, a.holder())
}

// holder returns the beginning of the holder's name of a task of the attempt.
func (a attempt) holder() string {
	return admission.Due{Delivery: a.DeliveryID, Attempt: a.number}.Holder()
}

// ranOut reports whether the attempt's last lease ran out, by some clock.
func (c circuits) ranOut(a attempt, now time.Time, skew time.Duration) bool {
	for _, l := range slices.Backward(c.leases) {
		if l.of(a) {
			return now.Sub(l.from) > leaseFor-time.Second-2*skew
		}
	}
	return true
}

// checkTwice: each repetition of an attempt has its own fault, or its own second task.
func (w *simulation) checkTwice(p *process, sent *post) {
	made := 0
	for _, other := range w.posts[sent.of.DeliveryRef] {
		if other.ended.IsZero() && !other.p.dead || !other.ended.Before(p.started) || !other.p.deadline.Before(p.started) {
			sent.apart, other.apart = true, true
		}
		if other.of != sent.of {
			continue
		}
		w.count("attempts made twice")
		made++
	}
	if made == 0 {
		return
	}
	sent.again = true
	if most := w.receiptsOf(sent.of); made >= most && !w.boundless(sent.of.DeliveryRef) {
		w.fail(checkDuplicate, "%s: attempt %d of %s is made %d times, and at most %d are explained, by the faults %v",
			p.name, sent.of.number, sent.of.DeliveryID, made+1, most, w.blamed[sent.of.DeliveryRef])
	}
}

// receiptsOf returns how often function deliver may receive a task of the attempt at most.
// A receipt makes one attempt or one next task, so the tasks of the attempts before
// count, too. A park takes its task away.
func (w *simulation) receiptsOf(a attempt) int {
	n := len(w.blamed[a.DeliveryRef])
	for k := 1; k <= a.number; k++ {
		n += w.makers[attempt{a.DeliveryRef, k}] - w.parks[attempt{a.DeliveryRef, k}]
	}
	return n
}

// twoTasks reports whether the attempt, or an earlier attempt, had more than one task.
func (w *simulation) twoTasks(a attempt) bool {
	for n := 1; n <= a.number; n++ {
		tasks := w.makers[attempt{a.DeliveryRef, n}]
		if n > 1 {
			tasks++ // the task made by function deliver
		}
		if tasks > 1 {
			return true
		}
	}
	return false
}

// checkLimits: attempts in flight stay within max_in_flight, and requests within the rate.
func (w *simulation) checkLimits(e *endpoint, sent *post) {
	if e.MaxInFlight > 0 && !sent.apart {
		n := 1
		for _, other := range w.wire[e.id] {
			if other.ended.IsZero() && !other.p.dead && !other.apart {
				n++
			}
		}
		if n > e.MaxInFlight {
			w.fail(checkInFlight, "%s: %d in flight at %s; at most %d", sent.p.name, n, e.id, e.MaxInFlight)
		}
	}
	if e.RatePerSecond > 0 {
		w.checkRate(e, sent)
	}
}

// checkRate: requests have slots of the rate, one each. A task may come long after its
// slot: from a backlog, or after faults. So the check counts, for each time before, the
// requests whose task was to arrive after that time. A repetition has the slot of the
// first request.
func (w *simulation) checkRate(e *endpoint, sent *post) {
	if sent.apart || sent.test || sent.again || sent.asked.IsZero() {
		return
	}
	slack := 2500*time.Millisecond + 2*w.mostSkew() // delays are whole seconds
	var asked []time.Time
	for _, s := range w.wire[e.id] {
		if !s.apart && !s.test && !s.again && !s.asked.IsZero() {
			asked = append(asked, s.asked)
		}
	}
	asked = append(asked, sent.asked)
	slices.SortFunc(asked, func(a, b time.Time) int { return b.Compare(a) })
	for i, at := range asked {
		if most := (w.now.Sub(at)+slack).Seconds()*e.RatePerSecond + 1; float64(i+1) > most {
			w.fail(checkRate, "%s: %d requests to %s that were to come in %s; at most %g a second", sent.p.name, i+1, e.id, w.now.Sub(at), e.RatePerSecond)
			return
		}
	}
}
