package gate

import (
	"context"
	"fmt"
	"sync"
	"time"

	"surehook.example/surehook/internal/conflict"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
)

// maxSaveAttempts limits the tries of a write. After a conflict another writer has succeeded,
// so 20 tries tolerate 19 concurrent writers at one endpoint.
const maxSaveAttempts = 20

// Gate decides whether attempts may start now. All fields but Wait must be set. A Gate
// must not be copied.
type Gate struct {
	Store        Store
	CircuitQueue CircuitQueue
	Notifier     settle.Notifier
	Now          func() time.Time
	Places       int           // places of a tenant in the lane slot, at least 1
	Wait         conflict.Wait // between two tries of a write; nil: by the real clock

	held   heldCounts
	counts sync.Pool // of *stats.Counts, which have 6 kB: without the pool they would be a third of the garbage
}

// Admit returns a verdict for each due delivery. A fast endpoint without limits costs
// no request.
func (g *Gate) Admit(ctx context.Context, q *admission.Query) (admission.Admission, error) {
	k := asking{Gate: g, query: q, now: g.Now(), state: admission.State{Record: q.Record, Limits: q.Limits, Most: g.Places, Run: hook.NewNonce()}}
	err := conflict.Repeat(ctx, g.Wait, maxSaveAttempts, func() error { return k.try(ctx) })
	if err != nil {
		k.giveBack(ctx)
	}
	return k.Admission, contentionOf(err, q.Record.Endpoint)
}

// asking is one call of Admit.
type asking struct {
	*Gate
	admission.Admission

	query  *admission.Query
	now    time.Time
	state  admission.State // as stored
	stale  bool            // the circuit in the state was changed since
	crowds int             // conflicts at the places of the tenant
}

// try reads what the table needs, and writes what it changes. CodeConflict means that somebody
// else has changed a part of the state, which the next try reads again.
func (k *asking) try(ctx context.Context) (err error) {
	if k.stale {
		if k.state.Record, err = k.circuitOf(ctx, k.query.Record.Tenant, k.query.Record.Endpoint)(); err != nil {
			return err
		}
		k.stale = false
	}
	for {
		k.Admission = admission.Ask(k.query, k.state, k.now)
		switch k.Lacks {
		case admission.LimitsPart:
			k.state.Limits, err = k.limitsOf(ctx, k.query.Record.Endpoint)
		case admission.PlacesPart:
			k.state.Places, err = k.placesOf(ctx, k.query.Record.Tenant)
		default:
			return k.write(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// write writes the circuit first, so that the breaker misses no delivery that is parked. What
// fails with a conflict, the next try reads again.
func (k *asking) write(ctx context.Context) error {
	id, tenant, next := k.query.Record.Endpoint, k.query.Record.Tenant, &k.Next
	if next.Record != k.state.Record {
		if err := k.saveCircuit(ctx, next.Record); err != nil {
			k.stale = true
			return err
		}
		next.Record.Version++ // the stored version, for Settle
		k.state.Record = next.Record
		if wait := k.CheckAt.Sub(k.now); wait > 0 && next.Record.State == circuit.Closed { // if it is lost, the breaker's tick releases the deliveries
			if err := k.enqueueCheck(ctx, next.Record, wait); err != nil {
				return err
			}
		}
	}
	if before := k.state.Limits; before != next.Limits {
		k.state.Limits = nil
		if err := k.Store.ChangeLimits(ctx, id, *before, *next.Limits, k.Slots); err != nil {
			return fmt.Errorf("change limits of %s: %w", id, err)
		}
	}
	if before := k.state.Places; before != next.Places {
		k.state.Places = nil
		if err := k.Store.ChangePlaces(ctx, tenant, *before, *next.Places, k.Gate.Places); err != nil {
			if k.crowds++; k.crowds >= maxSaveAttempts/2 { // the tenant is so busy that it counts as having no free place
				k.state.Most = 0
			}
			return fmt.Errorf("change places of tenant %s: %w", tenant, err)
		}
	}
	return nil
}

// giveBack ends the leases of an admission that failed: a write without an answer may have taken
// them. The messages come again, so the tokens keep their places. If this fails, the leases expire.
func (k *asking) giveBack(ctx context.Context) {
	for _, v := range k.Verdicts {
		if v.Lease.Key != "" {
			_ = k.updateLimits(ctx, k.query.Record.Endpoint, func(before admission.Limits) admission.Limits { return before.End(v.Lease) })
		}
	}
}
