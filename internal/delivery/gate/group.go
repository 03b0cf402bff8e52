package gate

import (
	"context"
	"slices"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/isolation"
)

// admitGroup decides about the tokens of one request to a coalescing endpoint. The request
// takes one rate slot and one in-flight slot, both held by the first token. A group that cannot
// start now waits on the queue, for the next window or for its rate slot: that is cheaper than
// parking each delivery, and the next window collects what waited.
//
// When the group waits for a rate slot, only the first token carries the reserved slot. So one
// request uses it, whichever tokens come back together.
func (g *Gate) admitGroup(ctx context.Context, q *Query, now time.Time) (Admission, error) {
	window := q.Endpoint.Coalesce
	if q.Lane != hook.LaneCoalesce {
		return later(q, window.End(now)), nil
	}
	leader := max(0, slices.IndexFunc(q.Due, func(d Due) bool { return d.Reserved })) // the first token with a rate slot, if any
	if q.Endpoint.RatePerSecond > 0 && !q.Due[leader].Reserved {
		wait, err := g.reserveGroup(ctx, q, leader, now)
		if err != nil || wait.Verdicts != nil {
			return wait, err
		}
	}
	a := sameVerdict(q, Verdict{Decision: Admit})
	if q.slots(now) == 0 {
		return a, nil
	}
	lease, err := g.startLease(ctx, q, q.Due[leader], now)
	if err != nil || lease.Decision == Admit {
		a.Verdicts[leader] = lease
		return a, err
	}
	wait := later(q, window.End(now))
	switch {
	case lease.Decision == Busy:
		wait.Verdicts[leader] = lease
	case q.Endpoint.RatePerSecond > 0:
		wait.Verdicts[leader].Reserved = true // the token keeps its rate slot
	}
	return wait, nil
}

// later sends all tokens back to the lane coalesce for the given time.
func later(q *Query, at time.Time) Admission {
	return sameVerdict(q, Verdict{Decision: Move, Lane: hook.LaneCoalesce, Until: at})
}

// reserveGroup reserves a rate slot for the leader. An admission without verdicts means that
// the slot is now. No slot is reserved more than MaxRateWait ahead, so that a changed rate soon
// applies to everything: beyond that, the group asks again at the end of a later window.
func (g *Gate) reserveGroup(ctx context.Context, q *Query, leader int, now time.Time) (wait Admission, err error) {
	err = g.updateLimits(ctx, q, nil, func(before isolation.Limits) isolation.Limits {
		after, slot := before.Reserve(q.Endpoint.RatePerSecond, now)
		wait = Admission{}
		switch {
		case slot.Sub(now) > isolation.MaxRateWait:
			wait = later(q, q.Endpoint.Coalesce.End(now.Add(isolation.MaxRateWait)))
			return before
		case slot.After(now):
			wait = later(q, slot)
			wait.Verdicts[leader].Reserved = true
		}
		return after
	})
	return wait, err
}
