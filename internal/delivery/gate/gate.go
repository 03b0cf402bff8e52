package gate

import (
	"context"
	"fmt"
	"time"

	"surehook/internal/hook"
	"surehook/internal/rule/circuit"
)

const (
	// maxSaveAttempts bounds how often a decision is made anew because another function
	// wrote first. Every lost race is another's progress, so it takes as many
	// functions at one endpoint in one moment to use them up.
	maxSaveAttempts = 20
	// noSlotDelay is how long a delivery waits, at least, that found no place in
	// flight; a share of as much again is added.
	noSlotDelay = 2 * time.Second
	// defaultThrottle is how long an endpoint is left alone that answered 429 without
	// a Retry-After.
	defaultThrottle = 10 * time.Second
)

// Decision is what the gate says to a delivery that is due.
type Decision uint8

// The decisions. The zero Decision is not valid.
const (
	Admit  Decision = iota + 1 // the attempt may start
	Park                       // not now: the delivery waits in the store, without a token
	Delay                      // not now: its token comes back at a time that is known
	Cancel                     // never: the endpoint was deleted
)

// String returns the decision as it appears in logs.
func (d Decision) String() string {
	switch d {
	case Admit:
		return "admit"
	case Park:
		return "park"
	case Delay:
		return "delay"
	case Cancel:
		return "cancel"
	}
	return "unknown"
}

// Verdict is what becomes of one delivery.
type Verdict struct {
	Decision Decision
	Reason   hook.Reason // of Park and Cancel
	Until    time.Time   // of Delay: when the token is to come back
	Reserved bool        // of Delay: at that time a slot of the rate limit is the delivery's
}

// Due is a delivery that waits to be let through.
type Due struct {
	Delivery hook.DeliveryID
	Reserved bool // it has waited for its slot of the rate limit
}

// Query asks about deliveries that wait for one endpoint.
type Query struct {
	Tenant   hook.TenantID
	ID       hook.EndpointID
	Endpoint *hook.Endpoint // nil when it was deleted
	Record   Record         // as it was read with the endpoint
	Due      []Due
}

// slowInFlight is how many attempts at a slow endpoint are under way at the same
// time at most, if its owner does not say: it must not hold up the functions
// that the others share.
const slowInFlight = 5

// maxInFlight is how many attempts may be under way at the same time; 0: no limit.
func (q Query) maxInFlight() int {
	if q.Endpoint.MaxInFlight == 0 && q.Record.Review.Slow {
		return slowInFlight
	}
	return q.Endpoint.MaxInFlight
}

// Admission is the answer: one verdict per delivery that is due, and what the
// gate must know again when those that were admitted are settled.
type Admission struct {
	Verdicts []Verdict

	query   Query
	probe   string   // the delivery that holds the lease; empty for none
	holders []string // of places in flight
}

// Gate decides whether attempts may start now.
type Gate struct {
	Store        Store
	CircuitQueue CircuitQueue
	Notifier     Notifier
	Now          func() time.Time
	Rand         func() float64 // in [0, 1)
}

// Admit answers for each delivery that is due. It costs no request for a
// healthy endpoint without limits.
func (g *Gate) Admit(ctx context.Context, q Query) (Admission, error) {
	for range maxSaveAttempts {
		a, err := g.decideAdmission(ctx, q)
		if err == nil || hook.CodeOf(err) != hook.CodeConflict {
			return a, err
		}
		if q.Record, err = g.Store.Circuit(ctx, q.Tenant, q.ID); err != nil {
			return Admission{}, fmt.Errorf("read circuit of %s: %w", q.ID, err)
		}
	}
	return Admission{}, errContention(q.ID)
}

// decideAdmission answers from what the query says of the circuit; CodeConflict when
// that changed meanwhile.
func (g *Gate) decideAdmission(ctx context.Context, q Query) (Admission, error) {
	now := g.Now()
	switch {
	case q.Endpoint == nil:
		return sameVerdict(q, Verdict{Decision: Cancel, Reason: hook.ReasonDeleted}), nil
	case q.Endpoint.Status == hook.StatusPaused:
		return sameVerdict(q, Verdict{Decision: Park, Reason: hook.ReasonPaused}), g.markWaiting(ctx, q.Record, now)
	case q.Endpoint.Status == hook.StatusDisabled:
		return sameVerdict(q, Verdict{Decision: Park, Reason: hook.ReasonDisabled}), g.markWaiting(ctx, q.Record, now)
	case q.Record.State != circuit.Closed:
		return g.admitProbe(ctx, q, now)
	case now.Before(q.Record.ThrottledUntil):
		return sameVerdict(q, Verdict{Decision: Delay, Until: q.Record.ThrottledUntil}), nil
	case q.Endpoint.RatePerSecond > 0 || q.maxInFlight() > 0:
		return g.applyLimits(ctx, q, now)
	}
	return sameVerdict(q, Verdict{Decision: Admit}), nil
}

func sameVerdict(q Query, v Verdict) Admission {
	a := Admission{query: q, Verdicts: make([]Verdict, len(q.Due))}
	for i := range a.Verdicts {
		a.Verdicts[i] = v
	}
	return a
}

// markWaiting writes that deliveries wait for the endpoint, if that is not known. It
// is done before the first is parked, so that the breaker overlooks none.
func (g *Gate) markWaiting(ctx context.Context, r Record, now time.Time) error {
	next := r.Wait(now)
	if next == r {
		return nil
	}
	return g.saveCircuit(ctx, next)
}

// admitProbe lets the probe through, if there may be one, and parks the others.
func (g *Gate) admitProbe(ctx context.Context, q Query, now time.Time) (Admission, error) {
	a := sameVerdict(q, Verdict{Decision: Park, Reason: hook.ReasonCircuit})
	for i, due := range q.Due {
		// The first may take the lease; who has it already may come again.
		probed, ok := q.Record.Probe(due.Delivery.String(), now)
		if !ok {
			continue
		}
		a.probe = due.Delivery.String()
		a.Verdicts[i] = Verdict{Decision: Admit}
		if probed == q.Record.Circuit {
			break
		}
		q.Record.Circuit = probed
		a.query.Record = q.Record.Wait(now).planAttention(now)
		if err := g.saveCircuit(ctx, a.query.Record); err != nil {
			return Admission{}, err
		}
		a.query.Record.Version++ // as it is stored now: what Settle begins with
		return a, nil
	}
	return a, g.markWaiting(ctx, q.Record, now)
}

// applyLimits gives out slots of the rate and places in flight.
func (g *Gate) applyLimits(ctx context.Context, q Query, now time.Time) (a Admission, err error) {
	err = g.changeLimits(ctx, q.ID, func(limits Limits) (next Limits) {
		a, next = g.grantLimits(q, limits, now)
		return next
	})
	return a, err
}

// changeLimits reads the endpoint's limits, changes them and writes them, again
// when another function came between.
func (g *Gate) changeLimits(ctx context.Context, id hook.EndpointID, change func(Limits) Limits) error {
	for range maxSaveAttempts {
		limits, err := g.Store.Limits(ctx, id)
		if err != nil {
			return fmt.Errorf("read limits of %s: %w", id, err)
		}
		err = g.Store.SaveLimits(ctx, id, change(limits))
		if err == nil {
			return nil
		}
		if hook.CodeOf(err) != hook.CodeConflict {
			return fmt.Errorf("save limits of %s: %w", id, err)
		}
	}
	return errContention(id)
}

func (g *Gate) grantLimits(q Query, limits Limits, now time.Time) (Admission, Limits) {
	a := sameVerdict(q, Verdict{Decision: Admit})
	if rate := q.Endpoint.RatePerSecond; rate > 0 {
		for i, due := range q.Due {
			if due.Reserved {
				continue
			}
			var slots []time.Time
			limits, slots = limits.Reserve(1, rate, now)
			if slots[0].After(now) {
				a.Verdicts[i] = Verdict{Decision: Delay, Until: slots[0], Reserved: true}
			}
		}
	}
	if most := q.maxInFlight(); most > 0 {
		for i, due := range q.Due {
			if a.Verdicts[i].Decision != Admit {
				continue
			}
			holder := []string{due.Delivery.String()}
			var granted int
			if limits, granted = limits.Lease(holder, most, now); granted == 1 {
				a.holders = append(a.holders, holder[0])
				continue
			}
			later := now.Add(noSlotDelay + time.Duration(g.Rand()*float64(noSlotDelay)))
			a.Verdicts[i] = Verdict{Decision: Delay, Until: later, Reserved: true}
		}
	}
	return a, limits
}

func (g *Gate) saveCircuit(ctx context.Context, r Record) error {
	if err := g.Store.SaveCircuit(ctx, r); err != nil {
		return fmt.Errorf("save circuit of %s: %w", r.Endpoint, err)
	}
	return nil
}

func errContention(id hook.EndpointID) error {
	return &hook.Error{Code: hook.CodeUnavailable, Message: fmt.Sprintf("too many functions are deciding about endpoint %s", id)}
}
