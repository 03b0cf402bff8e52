package dynamo

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/hook"
)

// apiKeyItem is stored twice: under the hash for authentication, and under the id
// for lists and deletion. The key of a portal link is stored under the hash alone.
type apiKeyItem struct {
	key
	ID         hook.KeyID    `dynamodbav:"id"`
	Name       string        `dynamodbav:"name,omitempty"`
	Tenant     hook.TenantID `dynamodbav:"tenant"`
	Scopes     []hook.Scope  `dynamodbav:"scopes,omitempty"`
	Hash       string        `dynamodbav:"hash"`
	CreatedAt  int64         `dynamodbav:"created_at"`
	ValidUntil int64         `dynamodbav:"valid_until,omitempty"` // milliseconds; not the attribute of TTL, because lists show expired keys
	Networks   []string      `dynamodbav:"networks,omitempty"`
	LastUsedOn string        `dynamodbav:"last_used_on,omitempty"`
	OfLink     bool          `dynamodbav:"of_link,omitempty"`
	ExpiresAt  int64         `dynamodbav:"expires_at,omitempty"` // TTL, of the key of a portal link alone
}

func toAPIKeyItem(at key, k hook.APIKey) apiKeyItem {
	it := apiKeyItem{
		key: at, ID: k.ID, Name: k.Name, Tenant: k.Tenant, Scopes: k.Scopes, Hash: k.Hash, CreatedAt: millis(k.CreatedAt),
		ValidUntil: millis(k.ExpiresAt), LastUsedOn: k.LastUsedOn, OfLink: k.OfLink,
	}
	if k.OfLink {
		it.ExpiresAt = ttl(k.ExpiresAt)
	}
	for _, network := range k.Networks {
		it.Networks = append(it.Networks, network.String())
	}
	return it
}

// fromAPIKeyItem fails for an unreadable network: the key would otherwise lose a
// restriction.
func fromAPIKeyItem(it apiKeyItem) (hook.APIKey, error) {
	k := hook.APIKey{
		ID: it.ID, Name: it.Name, Tenant: it.Tenant, Scopes: it.Scopes, Hash: it.Hash, CreatedAt: fromMillis(it.CreatedAt),
		Restriction: hook.Restriction{ExpiresAt: fromMillis(it.ValidUntil)}, LastUsedOn: it.LastUsedOn, OfLink: it.OfLink,
	}
	for _, text := range it.Networks {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return hook.APIKey{}, fmt.Errorf("read network of key %s: %w", it.ID, err)
		}
		k.Networks = append(k.Networks, network)
	}
	return k, nil
}

// PutKey writes both items of the key in one transaction. An existing id or hash
// is CodeConflict.
func (s *Store) PutKey(ctx context.Context, k hook.APIKey) error {
	op := "put key " + string(k.ID)
	var writes []types.TransactWriteItem
	for _, at := range []key{apiKeyKey(k.Hash), apiKeyRow(k.ID)} {
		put, err := s.put(toAPIKeyItem(at, k), absent())
		if err != nil {
			return translate(err, op)
		}
		writes = append(writes, types.TransactWriteItem{Put: put})
	}
	return translate(s.transact(ctx, writes...), op)
}

// Keys reads all keys in one query per 1 MB. People create keys by hand, so the
// number is small.
func (s *Store) Keys(ctx context.Context) ([]hook.APIKey, error) {
	items, err := s.listItems(ctx, apiKeysPartition, apiKeyPrefix)
	return readable(ctx, s, items, fromAPIKeyItem), translate(err, "list keys")
}

// KeyByHash reads one item.
func (s *Store) KeyByHash(ctx context.Context, hash string) (hook.APIKey, error) {
	var it apiKeyItem
	if err := s.get(ctx, apiKeyKey(hash), &it, "key", "by hash"); err != nil {
		return hook.APIKey{}, err
	}
	k, err := fromAPIKeyItem(it)
	return k, translate(err, "read key by hash")
}

// TouchKey updates both items of the key in one transaction. Authentication reads
// the day under the hash to skip a repeated update; lists read the day under the
// id.
func (s *Store) TouchKey(ctx context.Context, k hook.APIKey, day string) error {
	var writes []types.TransactWriteItem
	for _, at := range []key{apiKeyKey(k.Hash), apiKeyRow(k.ID)} {
		writes = append(writes, types.TransactWriteItem{Update: &types.Update{
			TableName:                 s.table,
			Key:                       at.attributes(),
			UpdateExpression:          aws.String("SET last_used_on = :day"),
			ConditionExpression:       aws.String("attribute_exists(pk) AND (attribute_not_exists(last_used_on) OR last_used_on < :day)"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":day": text(day)},
		}})
	}
	return translate(s.transact(ctx, writes...), "touch key "+string(k.ID))
}

// DeleteKey reads the key and removes both items in one transaction.
func (s *Store) DeleteKey(ctx context.Context, id hook.KeyID) (hook.APIKey, error) {
	op := "delete key " + string(id)
	var it apiKeyItem
	if err := s.get(ctx, apiKeyRow(id), &it, "key", string(id)); err != nil {
		return hook.APIKey{}, err
	}
	k, err := fromAPIKeyItem(it)
	if err != nil {
		return hook.APIKey{}, translate(err, op)
	}
	err = s.transact(ctx,
		types.TransactWriteItem{Delete: &types.Delete{
			TableName: s.table, Key: apiKeyRow(id).attributes(), ConditionExpression: aws.String("attribute_exists(pk)"),
		}},
		types.TransactWriteItem{Delete: &types.Delete{TableName: s.table, Key: apiKeyKey(it.Hash).attributes()}},
	)
	if conditionFailed(err, 0) { // a concurrent call deleted the key
		return hook.APIKey{}, fmt.Errorf("%s: %w", op, hook.NotFound("key"))
	}
	return k, translate(err, op)
}
