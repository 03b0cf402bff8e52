package release

import (
	"context"
	"errors"
	"fmt"
	"time"

	"surehook.example/surehook/internal/conflict"
	"surehook.example/surehook/internal/delivery/gate"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

const (
	// maxClaimAttempts limits the tries of a write. Each conflict means that another writer has
	// succeeded.
	maxClaimAttempts = 20
	// page is the number of the oldest parked deliveries among which Fill chooses.
	page = 50
	// choice is the number of parked deliveries without a lease among which HandOver chooses, at
	// least. The store reads each of them, so a higher number costs more.
	choice = 15
	// recheck is the shortest delay of the circuit check after the last slot was given back.
	recheck = time.Second
	// maxSlotWait is how long a claim may wait for its rate slot if the endpoint needs in-flight
	// slots. The claim holds one meanwhile, which a delivery whose rate slot is now may need.
	maxSlotWait = 2 * time.Second
)

// Store keeps deliveries, circuits and limits.
type Store interface {
	gate.CircuitStore
	gate.LimitStore
	// Parked returns parked deliveries in the target's shards created at or after since, the
	// oldest first, at most limit; a zero since leaves out none. A page shorter than limit need
	// not be the end. The index may lag a moment: a delivery parked just now may be absent, but
	// every returned delivery is parked.
	Parked(ctx context.Context, target hook.Target, since time.Time, limit int) ([]hook.Delivery, error)
}

// Releaser sends parked deliveries. All fields but Wait must be set.
type Releaser struct {
	Store        Store
	Queue        settle.TokenQueue
	CircuitQueue gate.CircuitQueue
	Now          func() time.Time
	Wait         conflict.Wait // between two tries of a write; nil: by the real clock
}

// Fill claims the free slots of the endpoint for parked deliveries, and sends their tokens.
// parked are deliveries that the index may not list yet. released is the number of tokens sent.
func (r *Releaser) Fill(ctx context.Context, e hook.Endpoint, record admission.Record, parked ...hook.Delivery) (released int, err error) {
	c := claim{Releaser: r, endpoint: e, record: record, parked: parked}
	return c.run(ctx)
}

// Slots are the in-flight slots of settled attempts of one endpoint.
type Slots struct {
	Tenant   hook.TenantID
	ID       hook.EndpointID
	Endpoint *hook.Endpoint // nil: deleted
	Held     []admission.Held
	Answers  []admission.Answer
	Last     time.Time // when the last of the deliveries was created
	Failed   bool      // at least one attempt failed
	InFlight int       // slots of the endpoint that were in use, if deliveries probably wait; otherwise 0
}

// HandOver ends the leases of the slots, and claims the slots for parked deliveries if the
// endpoint takes deliveries now. It also counts the answers, and makes an endpoint fast that has
// proved its speed. If deliveries wait, it enqueues a circuit check when the endpoint became fast,
// and when no slot is left in use.
func (r *Releaser) HandOver(ctx context.Context, s Slots) error {
	c := claim{Releaser: r, ended: s.Held, answers: s.Answers, last: s.Last, failed: s.Failed}
	if s.Endpoint != nil {
		c.endpoint = *s.Endpoint
	}
	if err := c.prefetch(ctx, s); err != nil {
		return err
	}
	record := c.record
	released, err := c.run(ctx)
	err = errors.Join(err, r.promote(ctx, record, c.limits))
	if released > 0 || !record.Backlog() || c.endpoint.Coalesce.On() { // a coalescing endpoint: the breaker sends waves
		return err
	}
	// Read the limits again: of two processes that end the last two slots at the same time,
	// each may have read the lease of the other.
	left, readErr := r.Store.Limits(ctx, s.ID)
	if readErr != nil {
		err = errors.Join(err, fmt.Errorf("read limits of %s: %w", s.ID, readErr))
	}
	if len(left.Live(r.Now()).Leases) == 0 {
		wait := max(recheck, record.ThrottledUntil.Sub(r.Now()), c.rateWait)
		check := hook.CircuitCheck{Tenant: s.Tenant, Endpoint: s.ID, Wave: record.Wave}
		if enqueueErr := r.CircuitQueue.Enqueue(ctx, check, wait); enqueueErr != nil {
			err = errors.Join(err, fmt.Errorf("enqueue circuit check of %s: %w", s.ID, enqueueErr))
		}
	}
	return err
}

// promote makes the endpoint fast, if the limits prove its speed. Its waiting deliveries need no
// slots any more: a circuit check releases them now, in full waves.
func (r *Releaser) promote(ctx context.Context, record admission.Record, l admission.Limits) error {
	err := conflict.Update(ctx, r.Wait, maxClaimAttempts, &record, func() (admission.Record, error) {
		read, err := r.Store.Circuit(ctx, record.Tenant, record.Endpoint)
		if err != nil {
			return read, fmt.Errorf("read circuit of %s: %w", record.Endpoint, err)
		}
		return read, nil
	}, func(before admission.Record) error {
		after := before.Promoted(l, r.Now())
		if after == before {
			return nil
		}
		if err := r.Store.SaveCircuit(ctx, after); err != nil {
			return fmt.Errorf("save the speed of endpoint %s: %w", after.Endpoint, err)
		}
		if !after.Backlog() {
			return nil
		}
		check := hook.CircuitCheck{Tenant: after.Tenant, Endpoint: after.Endpoint, Wave: after.Wave}
		if err := r.CircuitQueue.Enqueue(ctx, check, 0); err != nil {
			return fmt.Errorf("enqueue circuit check of %s: %w", after.Endpoint, err)
		}
		return nil
	})
	if err != nil && hook.CodeOf(err) == hook.CodeConflict {
		return &hook.Error{Code: hook.CodeUnavailable, Message: fmt.Sprintf("too many concurrent changes of endpoint %s", record.Endpoint)}
	}
	return err
}
