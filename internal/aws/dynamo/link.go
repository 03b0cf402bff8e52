package dynamo

import (
	"context"

	"surehook.example/surehook/internal/hook"
)

// PutLink writes one item. An existing id is CodeConflict.
func (s *Store) PutLink(ctx context.Context, l hook.PortalLink) error {
	return s.commit(ctx, "put portal link "+string(l.ID), s.put(linkKey(l.Tenant, l.ID), absent(), l, removed{l.ExpiresAt}))
}

// Link reads one item.
func (s *Store) Link(ctx context.Context, tenant hook.TenantID, id hook.KeyID) (hook.PortalLink, error) {
	return read[hook.PortalLink](ctx, s, linkKey(tenant, id), "portal link", string(id))
}

// OpenLink writes the hash of the key to the link, and the item of the key, in one
// transaction.
func (s *Store) OpenLink(ctx context.Context, l hook.PortalLink) error {
	put := s.put(apiKeyKey(l.KeyHash), absent(), l.APIKey(), removed{l.ExpiresAt})
	use := s.update(linkKey(l.Tenant, l.ID), "SET #hash = :hash", unopened(), attributes{":hash": text(l.KeyHash)})
	return s.commit(ctx, "open portal link "+string(l.ID), use, put)
}

// unopened requires that the link exists and was not opened.
func unopened() condition {
	return condition{expression: "attribute_exists(pk) AND attribute_not_exists(#hash)", names: map[string]string{"#hash": "hash"}}
}

// RemoveLink removes the link and the item of its key in one transaction.
func (s *Store) RemoveLink(ctx context.Context, l hook.PortalLink) error {
	op := "remove portal link " + string(l.ID)
	if !l.Opened() {
		return s.commit(ctx, op, s.removal(linkKey(l.Tenant, l.ID), unopened()))
	}
	opened := unopened()
	opened.expression, opened.values = "#hash = :hash", attributes{":hash": text(l.KeyHash)}
	return s.commit(ctx, op, s.removal(linkKey(l.Tenant, l.ID), opened), s.removal(apiKeyKey(l.KeyHash), condition{}))
}
