package memory

import (
	"context"
	"time"

	"surehook/internal/hook"
)

// TenantLimits returns the limits of the tenant.
func (s *Store) TenantLimits(ctx context.Context, id hook.TenantID) (hook.TenantLimits, error) {
	if err := available(ctx, "read limits of tenant "+string(id)); err != nil {
		return hook.TenantLimits{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.tenantOf(id).limits, nil
}

// SetTenantLimits replaces all limits of the tenant.
func (s *Store) SetTenantLimits(ctx context.Context, id hook.TenantID, l hook.TenantLimits) error {
	if err := available(ctx, "set limits of tenant "+string(id)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	t := s.tenantOf(id)
	t.limits = l
	t.version++
	return nil
}

// Spend moves the next-free time of the tenant.
func (s *Store) Spend(ctx context.Context, id hook.TenantID, spend hook.Spend) (time.Duration, error) {
	if err := available(ctx, "spend events of tenant "+string(id)); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	t := s.tenantOf(id)
	var wait time.Duration
	t.free, wait = spend.After(t.free)
	return wait, nil
}
