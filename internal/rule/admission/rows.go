package admission

import (
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
)

func (a *asking) deleted(Due) (Verdict, bool) {
	return Verdict{Decision: Cancel, Reason: hook.ReasonDeleted}, a.endpoint == nil
}

func (a *asking) stopped(Due) (Verdict, bool) {
	if a.endpoint.Status == hook.StatusPaused {
		return park(hook.ReasonPaused), true
	}
	return park(hook.ReasonDisabled), a.endpoint.Status == hook.StatusDisabled
}

// testEvent admits the test event that its owner has just sent, to see whether the endpoint works
// now: neither the circuit, nor a throttle, a rate or a backlog holds it back, but only
// max_in_flight. Its sender bounds how many there are. It takes no lease of a probe, so a probe
// may be in flight beside it.
func (a *asking) testEvent(due Due) (Verdict, bool) {
	a.test = due.Test
	if !due.Test || a.endpoint.MaxInFlight == 0 {
		return Verdict{Decision: Admit}, due.Test
	}
	v := a.lease(due)
	if v.Decision == Park { // all slots are in use: an attempt ends soon
		v = Verdict{Decision: Move, Queue: hook.QueueRetry, Until: a.now.Add(testPause)}
	}
	return v, true
}

// openAndThrottled parks even a probe: it is an attempt, too.
func (a *asking) openAndThrottled(Due) (Verdict, bool) {
	return park(hook.ReasonCircuit), a.notClosed() && a.now.Before(a.before.ThrottledUntil)
}

// probes admits one probe. Its lease stands in the circuit, and it takes no in-flight slot: meanwhile only a test
// event starts. At an endpoint that needs slots it goes to a queue of single tasks first, because it may hang.
//
// While deliveries are parked, the breaker chooses the probe, because a new delivery, or a
// retry that happens to be due, may be of an event type that always fails. Without parked
// deliveries the breaker sends no probe, so the first due task is the probe. If the holder of
// the lease comes again, it renews the lease. Another task of the same delivery is parked.
func (a *asking) probes(due Due) (Verdict, bool) {
	holder := due.Holder()
	probed, ok := a.before.Probe(holder, a.now)
	mayProbe := due.Probe || !a.before.HasParked() || a.before.Holder == holder
	if !ok || a.probed || !a.notClosed() || !mayProbe {
		return Verdict{}, false
	}
	a.probed = true
	v := Verdict{Decision: Admit}
	switch {
	case a.most > 0 && !a.query.Queue.Single() && !a.endpoint.Coalesce.On():
		v = a.toSlot(due)
	case !a.hasShare(due):
		v = Verdict{Decision: Move, Queue: hook.QueueOverflow}
	default:
		a.probe, a.copiedProbe = holder, a.before.Holder == holder && a.now.Before(a.before.LeaseUntil)
		a.Next.Record.Circuit, a.Next.Record.ProbeSentAt = probed, time.Time{}
	}
	v.Probe = v.Decision == Move // so that it stays the probe, even if deliveries are parked before it arrives
	return v, true
}

func (a *asking) open(Due) (Verdict, bool) { return park(hook.ReasonCircuit), a.notClosed() }

func (a *asking) notClosed() bool { return a.before.State != circuit.Closed }

func (a *asking) throttled(Due) (Verdict, bool) {
	v := park(hook.ReasonThrottled)
	v.Until = a.before.ThrottledUntil
	return v, a.now.Before(v.Until)
}

func (a *asking) behindOthers(due Due) (Verdict, bool) {
	return park(hook.ReasonInFlight), a.most > 0 && a.before.Backlog() && !due.Slot && !due.Reserved
}

// elsewhere moves the task to the queue slot, if the tenant has a share there, and else to the
// queue overflow. A share is taken before its task is sent, so the queue slot never holds more
// tasks of a tenant than it has shares, and a tenant with thousands of tasks delays no other
// tenant there.
func (a *asking) elsewhere(due Due) (Verdict, bool) {
	if a.most == 0 || a.query.Queue.Single() {
		return Verdict{}, false
	}
	return a.toSlot(due), true
}

// farAboveRate parks the delivery and says when the next rate slot is, for a check: the attempts of a fast endpoint
// hold no slots, so none is handed over to it. A delivery with a claim does not keep its in-flight slot while
// it waits: it is parked, too.
func (a *asking) farAboveRate(due Due) (Verdict, bool) {
	if !a.paced(due) {
		return Verdict{}, false
	}
	_, slot := a.Next.Limits.Reserve(a.rate, a.now)
	wait := slot.Sub(a.now)
	return Verdict{Decision: Park, Reason: hook.ReasonRate, Until: slot}, a.before.Backlog() && !due.Slot || due.Slot && wait > 0 || wait > a.rateWait
}

// aboveRate takes a rate slot for the task. One that is later waits for it on the queue: parking
// would cost three times as much (docs/cost.md, a flood over a rate limit). If a later row moves or parks a
// task whose slot is now, the slot is lost.
func (a *asking) aboveRate(due Due) (Verdict, bool) {
	if !a.paced(due) {
		return Verdict{}, false
	}
	next, slot := a.Next.Limits.Reserve(a.rate, a.now)
	a.Next.Limits = &next
	queue := hook.QueueRetry // not the queue slot, because the share is given back
	if a.query.Queue == hook.QueueOverflow {
		queue = hook.QueueOverflow
	}
	return Verdict{Decision: Move, Queue: queue, Until: slot, Reserved: true}, slot.After(a.now)
}

// paced reports whether the task needs a rate slot.
func (a *asking) paced(due Due) bool {
	return a.rate > 0 && !due.Reserved && a.has(LimitsPart) && !a.runs(due)
}

// withoutShare: in the queue slot a share expires if the task waits there for long.
func (a *asking) withoutShare(due Due) (Verdict, bool) {
	return Verdict{Decision: Move, Queue: hook.QueueOverflow}, a.needsSlot(due) && !a.hasShare(due)
}

// inFlight leases an in-flight slot to the task, or parks it.
func (a *asking) inFlight(due Due) (Verdict, bool) {
	if !a.needsSlot(due) {
		return Verdict{}, false
	}
	return a.lease(due), true
}

func (a *asking) needsSlot(due Due) bool {
	return a.query.Queue.Single() && (due.Slot || a.most > 0)
}
