package memory

import (
	"context"

	"surehook/internal/hook"
)

// PutNewest stores n, unless the stored record is as new or newer.
func (s *Store) PutNewest(ctx context.Context, n hook.Newest) error {
	if err := available(ctx, "put newest event "+string(n.Event)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	if stored, ok := s.newest[n.NewestKey]; !ok || n.After(stored) {
		n.ExpiresAt = storedExpiry(n.ExpiresAt)
		s.newest[n.NewestKey] = n
	}
	return nil
}

// Newest returns the records in the order of the keys.
func (s *Store) Newest(ctx context.Context, keys []hook.NewestKey) ([]hook.Newest, error) {
	if err := available(ctx, "read newest events"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	var found []hook.Newest
	for _, k := range keys {
		if n, ok := s.newest[k]; ok {
			found = append(found, n)
		}
	}
	return found, nil
}
