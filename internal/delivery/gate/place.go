package gate

import (
	"context"
	"fmt"
	"time"

	"surehook/internal/hook"
)

// takePlace takes a place of the tenant in the lane slot for the token. The place is
// zero in the lane overflow, which has no places. ok is false when the tenant uses all
// its places, or when a copy of the token uses one: the token goes on in the overflow.
func (g *Gate) takePlace(ctx context.Context, q Query, due Due, now time.Time) (place Held, ok bool, err error) {
	if q.Lane != hook.LaneSlot {
		return Held{}, true, nil
	}
	place = Held{due.Holder(), Lease{Nonce: due.Nonce, Until: leaseEnd(now), Run: hook.NewNonce()}}
	err = hook.OnConflict(ctx, g.Wait, maxSaveAttempts, func() error {
		before, err := g.Store.Places(ctx, q.Tenant)
		if err != nil {
			return fmt.Errorf("read places of tenant %s: %w", q.Tenant, err)
		}
		live := before.Live(now)
		current, taken := live.Leases[place.Key]
		if ok = taken && current.same(place.Lease); ok {
			return nil // the answer to the write was lost
		}
		if taken || len(live.Leases) >= g.Places {
			return nil
		}
		ok = true
		return g.changePlaces(ctx, q.Tenant, before, live.Begin(place))
	})
	if hook.CodeOf(err) == hook.CodeConflict {
		return Held{}, false, nil // as busy as a tenant without a free place
	}
	return place, ok, err
}

// leavePlaces gives the places of an admission back. Places of a dead process end by
// themselves.
func (g *Gate) leavePlaces(ctx context.Context, a Admission) error {
	if len(a.places) == 0 {
		return nil
	}
	return contentionOf(hook.OnConflict(ctx, g.Wait, maxSaveAttempts, func() error {
		before, err := g.Store.Places(ctx, a.query.Tenant)
		if err != nil {
			return fmt.Errorf("read places of tenant %s: %w", a.query.Tenant, err)
		}
		return g.changePlaces(ctx, a.query.Tenant, before, before.End(a.places...))
	}), a.query.ID)
}

func (g *Gate) changePlaces(ctx context.Context, tenant hook.TenantID, before, after Limits) error {
	if err := g.Store.ChangePlaces(ctx, tenant, before, after, g.Places); err != nil {
		return fmt.Errorf("change places of tenant %s: %w", tenant, err)
	}
	return nil
}
