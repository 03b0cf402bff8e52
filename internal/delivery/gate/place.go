package gate

import (
	"context"
	"fmt"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/isolation"
)

// move moves the tokens from a lane of batches to the lane slot, as far as the tenant has free
// places, and the others to the lane overflow. A place is taken before its token is sent, so
// the lane slot never holds more tokens of a tenant than it has places, and a tenant with
// thousands of tokens delays no other tenant there.
func (g *Gate) move(ctx context.Context, q *Query, now time.Time) (Admission, error) {
	a := sameVerdict(q, Verdict{Decision: Move, Lane: hook.LaneOverflow})
	places, err := g.takePlaces(ctx, q.Tenant, q.Due, now)
	if err != nil {
		return a, err
	}
	for i, ok := range places {
		if ok {
			a.Verdicts[i].Lane = hook.LaneSlot
		}
	}
	return a, nil
}

// takePlaces takes places of the tenant for the tokens, and reports which tokens have one. If
// every try meets a conflict, the tenant is so busy that it counts as having no free place.
func (g *Gate) takePlaces(ctx context.Context, tenant hook.TenantID, all []Due, now time.Time) (has []bool, err error) {
	wanted := make([]isolation.Held, len(all))
	for i, due := range all {
		wanted[i] = due.place(isolation.LeaseEnd(now))
	}
	err = g.updatePlaces(ctx, tenant, func(before isolation.Limits) (after isolation.Limits) {
		after, has = before.Take(wanted, g.Places, now)
		return after
	})
	if hook.CodeOf(err) == hook.CodeConflict {
		return make([]bool, len(all)), nil
	}
	return has, err
}

// PlaceKey returns the key of the token's place. It contains the endpoint, because two replays
// of one event may have the same nonce.
func (d Due) PlaceKey() string { return string(d.Delivery.Endpoint) + "_" + d.Holder() }

// place returns the place of the token.
func (d Due) place(until time.Time) isolation.Held {
	return isolation.Held{Key: d.PlaceKey(), Lease: isolation.Lease{Nonce: d.Nonce, Until: until}}
}

// hasPlace reports whether the token may stay in its lane. In the lane slot a place expires if
// the token waits there for long.
func (g *Gate) hasPlace(ctx context.Context, q *Query, due Due, now time.Time) (bool, error) {
	if q.Lane != hook.LaneSlot {
		return true, nil
	}
	places, err := g.Store.Places(ctx, q.Tenant)
	if err != nil {
		return false, fmt.Errorf("read places of tenant %s: %w", q.Tenant, err)
	}
	_, ok := places.Live(now).Leases[due.PlaceKey()]
	return ok, nil
}

// withPlaces returns the admission with the places for Settle to give back: those of all tokens
// in the lane slot, except tokens that are moved, which have none, and busy ones,
// because a copy of the token may be using the place.
func (a Admission) withPlaces(q *Query) Admission {
	if q.Lane != hook.LaneSlot {
		return a
	}
	for i, v := range a.Verdicts {
		if v.Decision != Move && v.Decision != Busy {
			a.places = append(a.places, q.Due[i].place(time.Time{}))
		}
	}
	return a
}

// Leave gives back the place of a token in the lane slot that ended without asking the gate, so
// that no Settle gives it back. Without a place it does nothing.
func (g *Gate) Leave(ctx context.Context, tenant hook.TenantID, due Due) error {
	return g.leavePlaces(ctx, tenant, due.Delivery.Endpoint, due.place(time.Time{}))
}

// leavePlaces gives back places of tokens of an endpoint. If the process dies first, they
// expire.
func (g *Gate) leavePlaces(ctx context.Context, tenant hook.TenantID, id hook.EndpointID, places ...isolation.Held) error {
	if len(places) == 0 {
		return nil
	}
	return contentionOf(g.updatePlaces(ctx, tenant, func(before isolation.Limits) isolation.Limits { return before.End(places...) }), id)
}
