package memory

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	admin "surehook/internal/admin/tenant"
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
	s.bump(t)
	return nil
}

// RegisterTenant changes the version of an unknown tenant only.
func (s *Store) RegisterTenant(ctx context.Context, id hook.TenantID) error {
	if err := available(ctx, "register tenant "+string(id)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	if t := s.tenantOf(id); t.version == 0 {
		s.bump(t)
	}
	return nil
}

// Tenants cuts limit to 1 to 100. The result never lags.
func (s *Store) Tenants(ctx context.Context, prefix string, after hook.TenantID, limit int) (page []admin.Tenant, next hook.TenantID, err error) {
	if err := available(ctx, "list tenants"); err != nil {
		return nil, "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	for _, id := range slices.Sorted(maps.Keys(s.tenants)) {
		t := s.tenants[id]
		if t.version == 0 || id <= after || !strings.HasPrefix(string(id), prefix) {
			continue
		}
		if len(page) == min(max(limit, 1), maxPage) {
			return page, page[len(page)-1].ID, nil
		}
		page = append(page, admin.Tenant{ID: id, Endpoints: len(t.endpoints), Limits: t.limits})
	}
	return page, "", nil
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
