package dynamo

import (
	"context"

	"surehook.example/surehook/internal/hook"
)

// PutKey writes both items of the key in one transaction: under the hash for authentication, and
// under the id for lists and deletion. An existing id or hash is CodeConflict. Neither item expires:
// lists show expired keys.
func (s *Store) PutKey(ctx context.Context, k hook.APIKey) error {
	return s.commit(ctx, "put key "+string(k.ID), s.put(apiKeyKey(k.Hash), absent(), k), s.put(apiKeyRow(k.ID), absent(), k))
}

// Keys reads all keys in one query per 1 MB. People create keys by hand, so the
// number is small.
func (s *Store) Keys(ctx context.Context) ([]hook.APIKey, error) {
	items, err := s.all(ctx, s.sorted(apiKeysPartition, apiKeyPrefix))
	return readable[hook.APIKey](ctx, s, items), translate(err, "list keys")
}

// KeyByHash reads one item. It fails for an unreadable network: the key would otherwise lose a
// restriction.
func (s *Store) KeyByHash(ctx context.Context, hash string) (hook.APIKey, error) {
	return read[hook.APIKey](ctx, s, apiKeyKey(hash), "key", "by hash")
}

// TouchKey updates both items of the key in one transaction. Authentication reads
// the day under the hash to skip a repeated update; lists read the day under the
// id.
func (s *Store) TouchKey(ctx context.Context, k hook.APIKey, day string) error {
	touch := func(at key) write {
		later := condition{expression: "attribute_exists(pk) AND (attribute_not_exists(last_used_on) OR last_used_on < :day)"}
		return s.update(at, "SET last_used_on = :day", later, attributes{":day": text(day)})
	}
	return s.commit(ctx, "touch key "+string(k.ID), touch(apiKeyKey(k.Hash)), touch(apiKeyRow(k.ID)))
}

// DeleteKey reads the key and removes both items in one transaction.
func (s *Store) DeleteKey(ctx context.Context, id hook.KeyID) (hook.APIKey, error) {
	k, err := read[hook.APIKey](ctx, s, apiKeyRow(id), "key", string(id))
	if err != nil {
		return hook.APIKey{}, err
	}
	listed := s.removal(apiKeyRow(id), exists()).orElse(hook.NotFound("key")) // a concurrent call deleted the key
	if err := s.commit(ctx, "delete key "+string(id), listed, s.removal(apiKeyKey(k.Hash), condition{})); err != nil {
		return hook.APIKey{}, err
	}
	return k, nil
}

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
