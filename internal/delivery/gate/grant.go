package gate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"surehook/internal/hook"
)

// MaxRateWait is the longest wait of a token for a reserved rate slot. A delivery with
// a longer wait is parked, so a changed rate soon applies to all.
const MaxRateWait = time.Minute

// applyLimits reserves rate slots, and takes in-flight slots.
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
			return a, g.giveBack(ctx, a, err)
		}
	}
	for _, v := range a.Verdicts {
		switch {
		case v.Decision == Park && v.Reason == hook.ReasonRate:
			// The reserved rate slots end then, and none of their attempts hands a slot over.
			return a, g.giveBack(ctx, a, g.markWaitingUntil(ctx, q.Record, now.Add(MaxRateWait), now))
		case v.Decision == Park:
			return a, g.giveBack(ctx, a, g.markWaiting(ctx, q.Record, now))
		}
	}
	return a, nil
}

// giveBack ends the leases of an admission that failed with the error. The tokens return,
// and keep their places.
func (g *Gate) giveBack(ctx context.Context, a Admission, err error) error {
	if err == nil {
		return nil
	}
	for _, v := range a.Verdicts {
		if v.Lease.Key != "" {
			_ = g.endLease(ctx, a.query.ID, v.Lease) // otherwise the lease ends by itself
		}
	}
	return err
}

// reserve reserves a rate slot for each due delivery without a slot. Behind parked
// deliveries, and for a wait of more than MaxRateWait, the delivery is parked.
func (g *Gate) reserve(ctx context.Context, q *Query, now time.Time, a *Admission) error {
	err := hook.OnConflict(ctx, g.Wait, maxSaveAttempts, func() error {
		before, err := g.Store.Limits(ctx, q.ID)
		if err != nil {
			return fmt.Errorf("read limits of %s: %w", q.ID, err)
		}
		after := before
		for i, due := range q.Due {
			if due.Reserved {
				continue
			}
			next, slot := after.Reserve(q.Endpoint.RatePerSecond, now)
			switch {
			case q.Record.Backlog() && !due.Slot, slot.Sub(now) > MaxRateWait:
				a.Verdicts[i] = Verdict{Decision: Park, Reason: hook.ReasonRate}
				continue
			case slot.After(now):
				a.Verdicts[i] = Verdict{Decision: Delay, Until: slot}
			default:
				a.Verdicts[i] = Verdict{Decision: Admit}
			}
			after = next
		}
		return g.changeLimits(ctx, q.ID, before, after, 0)
	})
	return contentionOf(err, q.ID)
}

// takeSlot takes an in-flight slot of the endpoint for the token, and returns the verdict.
func (g *Gate) takeSlot(ctx context.Context, q *Query, due Due, now time.Time) (Verdict, error) {
	if ok, err := g.hasPlace(ctx, q, due, now); err != nil || !ok {
		return Verdict{Decision: Move, Lane: hook.LaneOverflow}, err
	}
	return g.startLease(ctx, q, due, now)
}

// startLease leases a slot to the token, or starts the lease that the sender of the
// token claimed. An earlier lease of the delivery means that another process may make
// the attempt: the token is busy until the lease ends.
func (g *Gate) startLease(ctx context.Context, q *Query, due Due, now time.Time) (v Verdict, err error) {
	own := Held{LeaseKey(due.Delivery), Lease{Nonce: due.Nonce, Until: leaseEnd(now), Run: hook.NewNonce()}}
	most := max(q.Record.Width(q.Endpoint, now), q.slots(now))
	err = hook.OnConflict(ctx, g.Wait, maxSaveAttempts, func() error {
		before, err := g.limitsOf(ctx, q)
		if err != nil {
			return err
		}
		live := before.Live(now)
		current, leased := live.Leases[own.Key]
		claimed := leased && current.Nonce == own.Nonce && current.Run == ""
		switch {
		case leased && current.same(own.Lease): // the answer to the write was lost
			v = Verdict{Decision: Admit, Lease: own}
			return nil
		case leased && !claimed:
			v = Verdict{Decision: Busy}
			return nil
		case !leased && len(live.Leases) >= most:
			v = Verdict{Decision: Park, Reason: hook.ReasonInFlight}
			return nil
		}
		v = Verdict{Decision: Admit, Lease: own}
		return g.changeLimits(ctx, q.ID, before, live.Begin(own), most)
	})
	return v, contentionOf(err, q.ID)
}

// limitsOf returns the limits read with the query, once, and then reads them anew.
func (g *Gate) limitsOf(ctx context.Context, q *Query) (Limits, error) {
	if read := q.Limits; read != nil {
		q.Limits = nil
		return *read, nil
	}
	limits, err := g.Store.Limits(ctx, q.ID)
	if err != nil {
		return limits, fmt.Errorf("read limits of %s: %w", q.ID, err)
	}
	return limits, nil
}

func (g *Gate) endLease(ctx context.Context, id hook.EndpointID, own Held) error {
	return contentionOf(hook.OnConflict(ctx, g.Wait, maxSaveAttempts, func() error {
		before, err := g.Store.Limits(ctx, id)
		if err != nil {
			return fmt.Errorf("read limits of %s: %w", id, err)
		}
		return g.changeLimits(ctx, id, before, before.End(own), 0)
	}), id)
}
