package admit

import (
	"context"
	"errors"
	"time"

	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/store"
)

const (
	// page is the number of parked deliveries without a lease among which Fill chooses, the oldest.
	page = 50
	// choice is the number of parked deliveries without a lease among which HandOver chooses, at
	// least. The store reads each of them, so a higher number costs more.
	choice = 15
	// patience is how often HandOver tries to claim while others claim the same deliveries or slots. The next try claims
	// nothing and meets no conflict: it gives the slots back, and the others claim them.
	patience = 5
	// recheck is the shortest delay of the circuit check after the last slot was given back.
	recheck = time.Second
	// maxSlotWait is how long a claim may wait for its rate slot if the endpoint needs in-flight
	// slots. The claim holds one meanwhile, which a delivery whose rate slot is now may need.
	maxSlotWait = 2 * time.Second
)

// Releaser sends parked deliveries, as many at a time as their endpoint has in-flight slots. All fields
// but Wait must be set.
type Releaser struct {
	Store        Store
	Queue        settle.TaskQueue
	CircuitQueue CircuitQueue
	Now          func() time.Time
	Wait         store.Wait // between two tries of a write; nil: by the real clock
}

// Fill claims the free slots of the endpoint for parked deliveries, and sends their tasks.
// parked are deliveries that the index may not list yet. released is the number of tasks sent.
func (s *Releaser) Fill(ctx context.Context, e hook.Endpoint, record admission.Record, parked ...hook.Delivery) (released int, err error) {
	c := call{Releaser: s, endpoint: e, record: record, parked: parked}
	return c.run(ctx)
}

// Freed are the in-flight slots of settled attempts of one endpoint, and what their answers say.
type Freed struct {
	Tenant   hook.TenantID
	ID       hook.EndpointID
	Endpoint *hook.Endpoint // nil: deleted
	Held     []admission.Held
	Kept     []admission.Held // of attempts whose messages come again
	Answers  []admission.Answer
	Since    time.Time // the start of the speed class in which the attempts were admitted: in another one, their answers say nothing
	Last     time.Time // when the last of the deliveries was created
	Failed   bool      // at least one attempt failed
	Leased   int       // parked deliveries that may have a slot: the list reads so many more; 0: probably none wait
}

// freedBy returns the slots that the tasks of an endpoint held. A task whose message comes again, after a fault of
// ours, keeps its slot, as a claim: handed over, the slot would go to the same delivery, still the first in the order,
// and the delivery would have a second task.
func freedBy(e *hook.Endpoint, since time.Time, ended []Ended) Freed {
	f := Freed{Endpoint: e, Since: since}
	for _, one := range ended {
		held := heldBy(one.Task, one.Verdict)
		if held.Key == "" {
			continue
		}
		f.Tenant, f.ID = one.Task.Tenant, one.Task.Delivery.Endpoint
		if one.Again {
			f.Kept = append(f.Kept, held)
			continue
		}
		f.Held = append(f.Held, held)
		if one.Task.Slot && e != nil { // the delivery waited, and probably others wait
			f.Leased = max(f.Leased, one.Verdict.InFlight, 1)
		}
		if one.Delivery != nil {
			f.Last = one.Delivery.CreatedAt
		}
		if r := one.Result; r.Class.Requested() && !r.Stale {
			f.Failed = f.Failed || r.Class != hook.ClassDelivered
			took, timed := answerTime(r)
			f.Answers = append(f.Answers, admission.Answer{Took: took, Timed: timed, OK: !r.Class.Failing() && r.Class != hook.ClassThrottled})
		}
	}
	return f
}

// heldBy returns the lease of a task that has ended. A moved task keeps its claim.
func heldBy(t hook.Task, v admission.Verdict) admission.Held {
	switch {
	case v.Lease.Key != "":
		return v.Lease
	case t.Slot && v.Decision != admission.Move: // its sender claimed it, and it did not start: for one, the circuit opened in the meantime
		return admission.Held{Key: admission.LeaseKey(t.Delivery.DeliveryID), Lease: admission.Lease{Nonce: t.Nonce}}
	}
	return admission.Held{}
}

// HandOver ends the leases of the slots, and claims the slots for parked deliveries if the
// endpoint takes deliveries now. It also counts the answers, and makes an endpoint fast that has
// proved its speed. If deliveries wait, it enqueues a circuit check when the endpoint became fast,
// and when no slot is left in use. Without slots it costs nothing.
func (s *Releaser) HandOver(ctx context.Context, f Freed) error {
	if len(f.Held)+len(f.Kept) == 0 {
		return nil
	}
	c := call{Releaser: s, freed: f.Held, kept: f.Kept, answers: f.Answers, since: f.Since, last: f.Last, failed: f.Failed}
	if f.Endpoint != nil {
		c.endpoint = *f.Endpoint
	}
	if err := c.prefetch(ctx, f); err != nil {
		return err
	}
	released, err := c.run(ctx)
	err = errors.Join(err, s.promote(ctx, c.record, c.after))
	if released > 0 || !c.record.Backlog() || c.endpoint.Coalesce.On() { // a coalescing endpoint: the breaker sends waves
		return err
	}
	// Read the limits again: of two processes that end the last two slots at the same time,
	// each may have read the lease of the other.
	left, readErr := s.Store.Limits(ctx, f.ID)
	err = errors.Join(err, readErr)
	if left.InFlight(s.Now()) == 0 {
		wait := max(recheck, c.record.ThrottledUntil.Sub(s.Now()), c.rateWait)
		err = errors.Join(err, s.enqueueCheck(ctx, c.record, wait))
	}
	return err
}

// promote makes the endpoint fast, if the limits prove its speed. Without max_in_flight and a rate its waiting
// deliveries need no slots any more: a circuit check releases them now, in full waves.
func (s *Releaser) promote(ctx context.Context, record admission.Record, l admission.Limits) error {
	before, after, err := s.updateCircuit(ctx, record, func(before admission.Record) admission.Record { return before.Promoted(l, s.Now()) })
	if err != nil || after == before || !after.Backlog() {
		return err
	}
	return s.enqueueCheck(ctx, after, 0)
}
