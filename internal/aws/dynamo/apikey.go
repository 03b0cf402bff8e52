package dynamo

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/hook"
)

// apiKeyItem is stored twice: under the hash for authentication, and under the id
// for lists and deletion. The key of a portal link is stored under the hash alone.
type apiKeyItem struct {
	key
	hook.APIKey

	Removed time.Time `stored:"expires_at,seconds"` // TTL, of the key of a portal link alone: lists show expired keys
}

func toAPIKeyItem(at key, k hook.APIKey) apiKeyItem {
	it := apiKeyItem{key: at, APIKey: k}
	if k.OfLink {
		it.Removed = k.ExpiresAt
	}
	return it
}

// PutKey writes both items of the key in one transaction. An existing id or hash
// is CodeConflict.
func (s *Store) PutKey(ctx context.Context, k hook.APIKey) error {
	return s.commit(ctx, "put key "+string(k.ID), s.put(toAPIKeyItem(apiKeyKey(k.Hash), k), absent()), s.put(toAPIKeyItem(apiKeyRow(k.ID), k), absent()))
}

// Keys reads all keys in one query per 1 MB. People create keys by hand, so the
// number is small.
func (s *Store) Keys(ctx context.Context) ([]hook.APIKey, error) {
	items, err := s.all(ctx, s.sorted(apiKeysPartition, apiKeyPrefix))
	return readable(ctx, s, items, itself[hook.APIKey]), translate(err, "list keys")
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
		return s.update(at, "SET last_used_on = :day", later, map[string]types.AttributeValue{":day": text(day)})
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
