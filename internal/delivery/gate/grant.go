package gate

import (
	"context"
	"fmt"
	"time"

	"surehook/internal/hook"
)

// noSlotDelay is the minimum delay of a delivery without a free in-flight slot. A
// random share of another noSlotDelay is added: 2 to 4 seconds in all.
const noSlotDelay = 2 * time.Second

// applyLimits reserves rate slots and leases in-flight slots.
func (g *Gate) applyLimits(ctx context.Context, q Query, now time.Time) (a Admission, err error) {
	err = g.changeLimits(ctx, q.ID, func(limits Limits) (next Limits) {
		a, next = g.grantLimits(q, limits, now)
		return next
	})
	return a, err
}

// returnSlots ends the leases of the admitted tokens. A lease shared by two copies of
// a message ends by itself: no copy knows whether the other is in flight.
func (g *Gate) returnSlots(ctx context.Context, a Admission) error {
	if len(a.holders) == 0 {
		return nil
	}
	return g.changeLimits(ctx, a.query.ID, func(limits Limits) Limits { return limits.releaseUnshared(a.holders, a.leasedUntil) })
}

// changeLimits reads, changes and writes the endpoint's limits, again after each
// version conflict.
func (g *Gate) changeLimits(ctx context.Context, id hook.EndpointID, change func(Limits) Limits) error {
	err := hook.OnConflict(ctx, g.Wait, maxSaveAttempts, func() error {
		limits, err := g.Store.Limits(ctx, id)
		if err != nil {
			return fmt.Errorf("read limits of %s: %w", id, err)
		}
		if err := g.Store.SaveLimits(ctx, id, change(limits)); err != nil {
			return fmt.Errorf("save limits of %s: %w", id, err)
		}
		return nil
	})
	return contentionOf(err, id)
}

// grantLimits returns the verdicts for the query, and the limits after the grants.
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
		a.leasedUntil = leaseEnd(now)
		for i, due := range q.Due {
			if a.Verdicts[i].Decision != Admit {
				continue
			}
			holder := []string{due.Holder()}
			shared := limits.sharedAt(holder[0], now)
			var granted int
			if limits, granted = limits.Lease(holder, most, now); granted == 1 {
				if !shared {
					a.holders = append(a.holders, holder[0])
				}
				continue
			}
			later := now.Add(noSlotDelay + time.Duration(g.Rand()*float64(noSlotDelay)))
			a.Verdicts[i] = Verdict{Decision: Delay, Until: later, Reserved: true}
		}
	}
	return a, limits
}
