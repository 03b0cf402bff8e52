package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"surehook/internal/hook"
)

// PutKey stores a copy of the key. An existing id or hash is CodeConflict.
func (s *Store) PutKey(ctx context.Context, k hook.APIKey) error {
	op := "put key " + string(k.ID)
	if err := available(ctx, op); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	_, sameID := s.keys[k.ID]
	_, sameHash := s.keyHashes[k.Hash]
	if sameID || sameHash {
		return fmt.Errorf("%s: %w", op, hook.Conflict("the key exists already"))
	}
	s.keys[k.ID] = copyKey(k)
	s.keyHashes[k.Hash] = k.ID
	return nil
}

// Keys returns copies of all keys.
func (s *Store) Keys(ctx context.Context) ([]hook.APIKey, error) {
	if err := available(ctx, "list keys"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	var all []hook.APIKey
	for _, k := range s.keys {
		all = append(all, copyKey(k))
	}
	slices.SortFunc(all, func(a, b hook.APIKey) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return all, nil
}

// KeyByHash returns a copy of the key.
func (s *Store) KeyByHash(ctx context.Context, hash string) (hook.APIKey, error) {
	const op = "read key by hash"
	if err := available(ctx, op); err != nil {
		return hook.APIKey{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	if id, ok := s.keyHashes[hash]; ok {
		return copyKey(s.keys[id]), nil
	}
	if id, ok := s.linkKeys[hash]; ok {
		return copyKey(s.links[id].APIKey()), nil
	}
	return hook.APIKey{}, fmt.Errorf("%s: %w", op, hook.NotFound("key"))
}

// TouchKey sets LastUsedOn of the key. A missing key, and a recorded day not before
// day, are CodeConflict.
func (s *Store) TouchKey(ctx context.Context, k hook.APIKey, day string) error {
	op := "touch key " + string(k.ID)
	if err := available(ctx, op); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	kept, ok := s.keys[k.ID]
	if !ok || kept.Hash != k.Hash || kept.LastUsedOn >= day {
		return fmt.Errorf("%s: %w", op, hook.Conflict("the key is gone, or the day is recorded already"))
	}
	kept.LastUsedOn = day
	s.keys[k.ID] = kept
	return nil
}

// DeleteKey removes the key by id and by hash.
func (s *Store) DeleteKey(ctx context.Context, id hook.KeyID) (hook.APIKey, error) {
	op := "delete key " + string(id)
	if err := available(ctx, op); err != nil {
		return hook.APIKey{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	k, ok := s.keys[id]
	if !ok {
		return hook.APIKey{}, fmt.Errorf("%s: %w", op, hook.NotFound("key"))
	}
	delete(s.keys, id)
	delete(s.keyHashes, k.Hash)
	return copyKey(k), nil
}

func copyKey(k hook.APIKey) hook.APIKey {
	k.Scopes = slices.Clone(k.Scopes)
	k.Networks = slices.Clone(k.Networks)
	k.CreatedAt = storedTime(k.CreatedAt)
	k.ExpiresAt = storedTime(k.ExpiresAt)
	return k
}
