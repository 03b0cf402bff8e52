package gate

import (
	"context"
	"slices"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/isolation"
)

// applyLimits reserves rate slots and takes in-flight slots for the due tokens.
func (g *Gate) applyLimits(ctx context.Context, q *Query, now time.Time) (a Admission, err error) {
	a = sameVerdict(q, Verdict{Decision: Admit})
	if q.Endpoint.RatePerSecond > 0 && slices.ContainsFunc(q.Due, func(d Due) bool { return !d.Reserved }) {
		if err := g.reserve(ctx, q, now, &a); err != nil {
			return a, err
		}
	}
	for i, due := range q.Due {
		if a.Verdicts[i].Decision != Admit || !q.Lane.Single() || !due.Slot && q.slots(now) == 0 {
			continue
		}
		if a.Verdicts[i], err = g.takeSlot(ctx, q, due, now); err != nil {
			return a, err
		}
	}
	for _, v := range a.Verdicts {
		if v.Decision == Park {
			return a, g.markWaitingUntil(ctx, q.Record, v.Until, now)
		}
	}
	return a, nil
}

// giveBack ends the leases of an admission that failed with the error: a write without an answer may
// have taken them. The messages come again, so the tokens keep their places.
func (g *Gate) giveBack(ctx context.Context, a Admission, err error) error {
	if err == nil {
		return nil
	}
	for _, v := range a.Verdicts {
		if v.Lease.Key != "" {
			// If this fails, the lease expires.
			_ = g.updateLimits(ctx, a.query, nil, func(before isolation.Limits) isolation.Limits { return before.End(v.Lease) })
		}
	}
	return err
}

// reserve takes a rate slot for each due token that has none. If other deliveries already wait, or
// if the next slot is not now, the delivery is parked. A check at the time of that slot releases
// it, because the attempts of a fast endpoint hand no slots over.
func (g *Gate) reserve(ctx context.Context, q *Query, now time.Time, a *Admission) error {
	return g.updateLimits(ctx, q, nil, func(before isolation.Limits) isolation.Limits {
		after := before
		for i, due := range q.Due {
			if due.Reserved {
				continue
			}
			next, slot := after.Reserve(q.Endpoint.RatePerSecond, now)
			if a.Verdicts[i] = (Verdict{Decision: Admit}); q.Record.Backlog() && !due.Slot || slot.After(now) {
				a.Verdicts[i] = Verdict{Decision: Park, Reason: hook.ReasonRate, Until: slot}
				continue
			}
			after = next
		}
		return after
	})
}

// takeSlot takes an in-flight slot of the endpoint for the token, unless the token has lost its
// place.
func (g *Gate) takeSlot(ctx context.Context, q *Query, due Due, now time.Time) (Verdict, error) {
	if ok, err := g.hasPlace(ctx, q, due, now); err != nil || !ok {
		return Verdict{Decision: Move, Lane: hook.LaneOverflow}, err
	}
	return g.startLease(ctx, q, due, now)
}

// startLease leases a slot to the token, or takes over the lease that the sender of the token
// claimed.
func (g *Gate) startLease(ctx context.Context, q *Query, due Due, now time.Time) (Verdict, error) {
	own := isolation.Held{
		Key: isolation.LeaseKey(due.Delivery), Lease: isolation.Lease{Nonce: due.Nonce, Until: isolation.LeaseEnd(now), Run: hook.NewNonce()},
	}
	most := max(q.Record.Width(q.Endpoint, now), q.slots(now))
	var granted isolation.Grant
	inFlight := 0
	open := func(before isolation.Limits) int { return q.Record.Open(before, most, now) }
	err := g.updateLimits(ctx, q, open, func(before isolation.Limits) (after isolation.Limits) {
		after, granted = before.Start(own, open(before), now)
		inFlight = len(after.Leases)
		return after
	})
	switch granted {
	case isolation.Started, isolation.Running:
		return Verdict{Decision: Admit, Lease: own, InFlight: inFlight}, err
	case isolation.Busy:
		return Verdict{Decision: Busy}, err
	case isolation.Full:
		if most == 0 { // the claim expired on the way, and the endpoint has become fast
			return Verdict{Decision: Admit}, err
		}
		return Verdict{Decision: Park, Reason: hook.ReasonInFlight}, err
	}
	return Verdict{}, err
}
