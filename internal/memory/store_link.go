package memory

import (
	"context"
	"fmt"
	"slices"

	"surehook/internal/hook"
)

// PutLink stores a copy of the link. An existing id is CodeConflict.
func (s *Store) PutLink(ctx context.Context, l hook.PortalLink) error {
	op := "put portal link " + string(l.ID)
	if err := available(ctx, op); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	if _, ok := s.links[l.ID]; ok {
		return fmt.Errorf("%s: %w", op, hook.Conflict("the portal link exists already"))
	}
	s.links[l.ID] = copyLink(l)
	return nil
}

// Link returns a copy of the link.
func (s *Store) Link(ctx context.Context, tenant hook.TenantID, id hook.KeyID) (hook.PortalLink, error) {
	op := "read portal link " + string(id)
	if err := available(ctx, op); err != nil {
		return hook.PortalLink{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	if l, ok := s.links[id]; ok && l.Tenant == tenant {
		return copyLink(l), nil
	}
	return hook.PortalLink{}, fmt.Errorf("%s: %w", op, hook.NotFound("portal link"))
}

// OpenLink stores the hash of the key.
func (s *Store) OpenLink(ctx context.Context, l hook.PortalLink) error {
	op := "open portal link " + string(l.ID)
	if err := available(ctx, op); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	kept, ok := s.links[l.ID]
	_, isKey := s.keyHashes[l.KeyHash]
	_, isLinkKey := s.linkKeys[l.KeyHash]
	if !ok || kept.Tenant != l.Tenant || kept.Opened() || isKey || isLinkKey {
		return fmt.Errorf("%s: %w", op, hook.Conflict("the portal link is gone or opened"))
	}
	kept.KeyHash = l.KeyHash
	s.links[l.ID] = kept
	s.linkKeys[l.KeyHash] = l.ID
	return nil
}

// RemoveLink removes the link and its key.
func (s *Store) RemoveLink(ctx context.Context, l hook.PortalLink) error {
	op := "remove portal link " + string(l.ID)
	if err := available(ctx, op); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	kept, ok := s.links[l.ID]
	if !ok || kept.Tenant != l.Tenant || kept.KeyHash != l.KeyHash {
		return fmt.Errorf("%s: %w", op, hook.Conflict("the portal link is gone, or was opened meanwhile"))
	}
	s.removeLink(kept)
	return nil
}

func (s *Store) removeLink(l hook.PortalLink) {
	delete(s.links, l.ID)
	delete(s.linkKeys, l.KeyHash)
}

func copyLink(l hook.PortalLink) hook.PortalLink {
	l.Scopes = slices.Clone(l.Scopes)
	l.CreatedAt, l.ExpiresAt, l.OpenUntil = storedTime(l.CreatedAt), storedTime(l.ExpiresAt), storedTime(l.OpenUntil)
	return l
}
