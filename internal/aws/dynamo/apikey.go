package dynamo

import (
	"context"
	"fmt"
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
	op := "put key " + string(k.ID)
	var writes []types.TransactWriteItem
	for _, at := range []key{apiKeyKey(k.Hash), apiKeyRow(k.ID)} {
		put := s.put(toAPIKeyItem(at, k), absent())
		writes = append(writes, types.TransactWriteItem{Put: put})
	}
	return translate(s.transact(ctx, writes...), op)
}

// Keys reads all keys in one query per 1 MB. People create keys by hand, so the
// number is small.
func (s *Store) Keys(ctx context.Context) ([]hook.APIKey, error) {
	items, err := s.listItems(ctx, apiKeysPartition, apiKeyPrefix)
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
	var writes []types.TransactWriteItem
	for _, at := range []key{apiKeyKey(k.Hash), apiKeyRow(k.ID)} {
		later := condition{expression: "attribute_exists(pk) AND (attribute_not_exists(last_used_on) OR last_used_on < :day)"}
		touch := s.update(at, "SET last_used_on = :day", later, map[string]types.AttributeValue{":day": text(day)})
		writes = append(writes, types.TransactWriteItem{Update: touch})
	}
	return translate(s.transact(ctx, writes...), "touch key "+string(k.ID))
}

// DeleteKey reads the key and removes both items in one transaction.
func (s *Store) DeleteKey(ctx context.Context, id hook.KeyID) (hook.APIKey, error) {
	op := "delete key " + string(id)
	k, err := read[hook.APIKey](ctx, s, apiKeyRow(id), "key", string(id))
	if err != nil {
		return hook.APIKey{}, err
	}
	err = s.transact(ctx, s.removal(apiKeyRow(id), exists()), s.removal(apiKeyKey(k.Hash), condition{}))
	if conditionFailed(err, 0) { // a concurrent call deleted the key
		return hook.APIKey{}, fmt.Errorf("%s: %w", op, hook.NotFound("key"))
	}
	return k, translate(err, op)
}
