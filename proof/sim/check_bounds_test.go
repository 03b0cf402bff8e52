package sim_test

import (
	"slices"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
)

// The bounds of a delivery. Together they bound its requests, messages and writes:
//
//   - A request is a receipt of a message: checkTwice.
//   - A receipt sends one message, and messages sent on have reasons: checkMessages.
//   - A write changes the delivery, and a conflict has a writer: sawWrite and sawConflict.
//   - A batch takes a bounded number of requests to the store and to the queues: checkBill.

// bill is the requests of a process.
type bill struct {
	effects   int
	last      *call // the last effect
	faults    int
	conflicts map[hook.DeliveryRef]int // writes of a delivery that met another writer
	refused   int                      // conflicts at all records
	sent      map[hook.DeliveryRef]int // tasks
	tries     map[hook.DeliveryRef]int // writes that failed
}

// charge adds the effect to the bill. A list makes several requests, some at once, and counts once.
func (b *bill) charge(c *call) {
	lists := func(c *call) bool { return c != nil && c.request != nil && c.request.Index != "" }
	if !lists(c) || !lists(b.last) {
		b.effects++
	}
	b.last = c
}

// checkMessages: a receipt sends one task. After a fault or a conflict, a process may do
// so again. Tasks are sent on without an attempt for a throttle, a slot, or an early
// arrival only.
//
// A claim is the first task of its own: a parked delivery has an in-flight slot.
func (w *simulation) checkMessages(p *process, t hook.Task) {
	if p.claims(t) || w.boundless(t.Delivery) {
		return
	}
	received := p.received(t.Delivery)
	on := slices.ContainsFunc(p.batch, func(m memory.Message) bool {
		return m.Task.Delivery == t.Delivery && m.Task.Attempt == t.Attempt
	})
	if p.sent[t.Delivery]++; p.sent[t.Delivery] > received+p.conflicts[t.Delivery]+p.faults {
		w.fail(checkMessages, "%s sends %d tasks of %s, and received %d", p.name, p.sent[t.Delivery], t.Delivery, received)
	}
	if !on {
		return
	}
	w.sentOn[t.Delivery]++
	if n, most := w.sentOn[t.Delivery], w.mostSentOn(t); n > most {
		w.fail(checkMessages, "%s is sent on %d times without an attempt, and at most %d are explained", t.Delivery, n, most)
	}
}

// claims reports whether the process claimed the slot of the task.
func (p *process) claims(t hook.Task) bool {
	return t.Slot && !slices.ContainsFunc(p.batch, func(m memory.Message) bool { return m.Task.Nonce == t.Nonce })
}

// received returns the number of messages of the delivery in the batch.
func (p *process) received(d hook.DeliveryRef) int {
	n := 0
	for _, m := range p.batch {
		if m.Task.Delivery == d {
			n++
		}
	}
	return n
}

// messages returns the number of messages of all generations of the delivery in the batch:
// the task of a replay also writes the generation before.
func (p *process) messages(d hook.DeliveryRef) int {
	n := 0
	for _, m := range p.batch {
		if m.Task.Delivery.Event == d.Event && m.Task.Delivery.Endpoint == d.Endpoint {
			n++
		}
	}
	return n
}

// mostSentOn bounds how often tasks of the delivery are sent on. Each task waits for its
// time and for a slot of the rate, and moves to the queue slot and to the overflow. At a
// coalescing endpoint a task without a slot asks again once in a window, or after 10 s, and a test event
// once in a second.
func (w *simulation) mostSentOn(t hook.Task) int {
	tasks := w.receiptsOf(attempt{t.Delivery, t.Attempt}) + w.records[t.Delivery].Attempts
	for n := 1; n <= t.Attempt; n++ {
		tasks += w.parks[attempt{t.Delivery, n}]
	}
	each := 4 + int(2*w.mostSkew()/tolerance) // clocks of several processes
	for _, c := range w.statuses[t.Delivery.Endpoint].coalesced {
		each += int(w.now.Sub(w.created(t.Delivery))/min(c.Window, hook.DefaultTimeout)) + 1
	}
	if t.Delivery.Event.IsTest() {
		each += hook.MaxTestWaits
	}
	return tasks * each
}

// sawWrite: a write changes the delivery. So attempts, parks and the few ends of a delivery
// bound its writes.
func (w *simulation) sawWrite(p *process, old, d hook.Delivery) {
	ref := d.Ref()
	if d.Parks > old.Parks {
		w.parks[attempt{ref, d.Attempts + 1}]++
	}
	w.writes[ref] = append(w.writes[ref], w.now)
	same := d.Erased == old.Erased && d.State == old.State && d.Attempts == old.Attempts && d.Parks == old.Parks && d.Replayed == old.Replayed && d.SweptAt.Equal(old.SweptAt)
	if same && old.Version > 0 && !w.boundless(ref) {
		w.fail(checkWrites, "%s writes %s again, and changes nothing: %s (%s)", p.name, ref, d.State, d.Reason)
	}
}

// sawConflict: each conflict of a message has another writer since the start of the process.
func (w *simulation) sawConflict(p *process, ref hook.DeliveryRef) {
	p.conflicts[ref]++
	if w.records[ref].Reason == hook.ReasonAdded || w.boundless(ref) {
		return
	}
	others := 0
	for _, at := range w.writes[ref] {
		if !at.Before(p.started) {
			others++
		}
	}
	copies := max(1, p.messages(ref))
	if p.batch == nil {
		copies = 8 // letters of one delivery, handled at the same time
	}
	if p.conflicts[ref] > others*copies+p.faults {
		w.fail(checkWrites, "%s meets conflict %d at %s, and %d writes happened since its start", p.name, p.conflicts[ref], ref, others)
	}
}

// sawAsked notes the earliest time at which a sender wants the task to arrive.
// A task that moves to another queue keeps the time of its rate slot.
func (p *process) sawAsked(t hook.Task, at time.Time) {
	w := p.simulation
	for _, m := range p.batch {
		if slot, known := w.asked[m.Task]; known && t.Reserved && m.Task.Nonce == t.Nonce && slot.Before(at) {
			at = slot
		}
	}
	if before, known := w.asked[t]; !known || at.Before(before) {
		w.asked[t] = at
	}
}

// askedAt returns the time asked for by a request to the queue made at the time, or
// earlier: the process may have been slow since the slot.
func (p *process) askedAt(made time.Time, delay time.Duration) time.Time {
	if delay == 0 {
		return p.started
	}
	return made.Add(delay)
}

// askedOf returns when the task of the attempt was to arrive; zero when unknown: the
// task of a redrive.
func (w *simulation) askedOf(p *process, of attempt) time.Time {
	var asked time.Time
	for _, m := range p.batch {
		if m.Task.Delivery == of.DeliveryRef && m.Task.Attempt == of.number {
			if at := w.asked[m.Task]; asked.IsZero() || at.Before(asked) {
				asked = at
			}
		}
	}
	return asked
}

// checkBill: a batch takes a bounded number of requests to the store and to the queues.
// Conflicts and faults repeat some. A slot with its place takes 8 of the 36 for an endpoint, and a fill of slots a message each.
func (w *simulation) checkBill(p *process) {
	if p.batch == nil || p.boundlessBatch() {
		return
	}
	endpoints := make(map[hook.EndpointID]bool)
	for _, m := range p.batch {
		endpoints[m.Task.Delivery.Endpoint] = true
	}
	most := 2 + 36*len(endpoints) + 10*len(p.batch) + 3*p.refused + 3*p.faults
	for _, beaten := range p.beaten { // a freed slot is handed on again, and its reads pass rows that others moved: 5 pages, see dynamo.pageThrough
		most += 9 * beaten
	}
	for _, m := range p.batch {
		most += 3 * m.Task.Delivery.Generation // the end of a replay retires the generations before
	}
	if p.effects > most {
		w.fail(checkRequests, "%s makes %d requests for %d messages of %d endpoints, with %d conflicts and %d faults; at most %d",
			p.name, p.effects, len(p.batch), len(endpoints), p.refused, p.faults, most)
	}
}
