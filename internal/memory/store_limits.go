package memory

import (
	"context"
	"fmt"
	"maps"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
)

// Limits returns a copy of the limits.
func (s *Store) Limits(ctx context.Context, endpoint hook.EndpointID) (gate.Limits, error) {
	return readLimits(ctx, s, s.limits, endpoint)
}

// ChangeLimits writes the differences.
func (s *Store) ChangeLimits(ctx context.Context, endpoint hook.EndpointID, before, after gate.Limits, most int) error {
	return changeLimits(ctx, s, s.limits, endpoint, before, after, most)
}

// Places returns a copy of the places.
func (s *Store) Places(ctx context.Context, tenant hook.TenantID) (gate.Limits, error) {
	return readLimits(ctx, s, s.places, tenant)
}

// ChangePlaces writes the differences.
func (s *Store) ChangePlaces(ctx context.Context, tenant hook.TenantID, before, after gate.Limits, most int) error {
	return changeLimits(ctx, s, s.places, tenant, before, after, most)
}

func readLimits[K ~string](ctx context.Context, s *Store, from map[K]gate.Limits, id K) (gate.Limits, error) {
	if err := available(ctx, "read limits "+string(id)); err != nil {
		return gate.Limits{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	return copyLimits(from[id]), nil
}

func copyLimits(l gate.Limits) gate.Limits {
	l.Leases = maps.Clone(l.Leases)
	return l
}

func changeLimits[K ~string](ctx context.Context, s *Store, in map[K]gate.Limits, id K, before, after gate.Limits, most int) error {
	op := "change limits " + string(id)
	if err := available(ctx, op); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	delta := before.To(after)
	stored := in[id]
	switch {
	case delta.Empty():
		return nil
	case !delta.Applies(before, stored, most):
		return fmt.Errorf("%s: %w", op, hook.Conflict("the limits were changed meanwhile"))
	}
	in[id] = storedLimits(delta.Apply(stored, after))
	return nil
}

// storedLimits returns the limits with times as stored.
func storedLimits(l gate.Limits) gate.Limits {
	l.RateSlot = l.RateSlot.UTC().Round(0) // without a monotonic reading
	for key, lease := range l.Leases {
		lease.Until = storedTime(lease.Until)
		l.Leases[key] = lease
	}
	l.ScoreAt, l.LateAt = storedTime(l.ScoreAt), storedTime(l.LateAt)
	return l
}
