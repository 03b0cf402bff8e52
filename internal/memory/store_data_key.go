package memory

import (
	"context"
	"fmt"
	"slices"

	"surehook/internal/hook"
)

// DataKey returns a copy of the tenant's data key.
func (s *Store) DataKey(ctx context.Context, tenant hook.TenantID) ([]byte, error) {
	op := "read data key of tenant " + string(tenant)
	if err := available(ctx, op); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	kept, ok := s.dataKeys[tenant]
	if !ok {
		return nil, fmt.Errorf("%s: %w", op, hook.NotFound("data key"))
	}
	return slices.Clone(kept), nil
}

// PutDataKey stores a copy of the tenant's first data key.
func (s *Store) PutDataKey(ctx context.Context, tenant hook.TenantID, dataKey []byte) error {
	op := "put data key of tenant " + string(tenant)
	if err := available(ctx, op); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	if _, ok := s.dataKeys[tenant]; ok {
		return fmt.Errorf("%s: %w", op, hook.Conflict("the tenant has a data key"))
	}
	s.dataKeys[tenant] = slices.Clone(dataKey)
	return nil
}
