package dynamo

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/hook"
)

// linkItem is a portal link. The key of an opened link is an apiKeyItem under the hash.
type linkItem struct {
	key
	ID         hook.KeyID    `dynamodbav:"id"`
	Tenant     hook.TenantID `dynamodbav:"tenant"`
	Scopes     []hook.Scope  `dynamodbav:"scopes"`
	CreatedAt  int64         `dynamodbav:"created_at"`
	ValidUntil int64         `dynamodbav:"valid_until"` // milliseconds
	CodeHash   string        `dynamodbav:"code_hash"`
	OpenUntil  int64         `dynamodbav:"open_until"`
	Hash       string        `dynamodbav:"hash,omitempty"` // of the key
	ExpiresAt  int64         `dynamodbav:"expires_at"`
}

func toLinkItem(l hook.PortalLink) linkItem {
	return linkItem{
		key: linkKey(l.Tenant, l.ID), ID: l.ID, Tenant: l.Tenant, Scopes: l.Scopes, CreatedAt: millis(l.CreatedAt),
		ValidUntil: millis(l.ExpiresAt), CodeHash: l.CodeHash, OpenUntil: millis(l.OpenUntil), Hash: l.KeyHash, ExpiresAt: ttl(l.ExpiresAt),
	}
}

func fromLinkItem(it linkItem) hook.PortalLink {
	return hook.PortalLink{
		ID: it.ID, Tenant: it.Tenant, Scopes: it.Scopes, CreatedAt: fromMillis(it.CreatedAt), ExpiresAt: fromMillis(it.ValidUntil),
		CodeHash: it.CodeHash, OpenUntil: fromMillis(it.OpenUntil), KeyHash: it.Hash,
	}
}

// PutLink writes one item. An existing id is CodeConflict.
func (s *Store) PutLink(ctx context.Context, l hook.PortalLink) error {
	op := "put portal link " + string(l.ID)
	put, err := s.put(toLinkItem(l), absent())
	if err != nil {
		return translate(err, op)
	}
	return translate(s.write(ctx, put), op)
}

// Link reads one item.
func (s *Store) Link(ctx context.Context, tenant hook.TenantID, id hook.KeyID) (hook.PortalLink, error) {
	var it linkItem
	if err := s.get(ctx, linkKey(tenant, id), &it, "portal link", string(id)); err != nil {
		return hook.PortalLink{}, err
	}
	return fromLinkItem(it), nil
}

// OpenLink writes the hash of the key to the link, and the item of the key, in one
// transaction.
func (s *Store) OpenLink(ctx context.Context, l hook.PortalLink) error {
	op := "open portal link " + string(l.ID)
	put, err := s.put(toAPIKeyItem(apiKeyKey(l.KeyHash), l.APIKey()), absent())
	if err != nil {
		return translate(err, op)
	}
	return translate(s.transact(ctx,
		types.TransactWriteItem{Update: &types.Update{
			TableName:                 s.table,
			Key:                       linkKey(l.Tenant, l.ID).attributes(),
			UpdateExpression:          aws.String("SET #hash = :hash"),
			ConditionExpression:       aws.String("attribute_exists(pk) AND attribute_not_exists(#hash)"),
			ExpressionAttributeNames:  map[string]string{"#hash": "hash"},
			ExpressionAttributeValues: map[string]types.AttributeValue{":hash": text(l.KeyHash)},
		}},
		types.TransactWriteItem{Put: put},
	), op)
}

// RemoveLink removes the link and the item of its key in one transaction.
func (s *Store) RemoveLink(ctx context.Context, l hook.PortalLink) error {
	op := "remove portal link " + string(l.ID)
	removal := &types.Delete{
		TableName:                s.table,
		Key:                      linkKey(l.Tenant, l.ID).attributes(),
		ConditionExpression:      aws.String("attribute_exists(pk) AND attribute_not_exists(#hash)"),
		ExpressionAttributeNames: map[string]string{"#hash": "hash"},
	}
	writes := []types.TransactWriteItem{{Delete: removal}}
	if l.Opened() {
		removal.ConditionExpression = aws.String("#hash = :hash")
		removal.ExpressionAttributeValues = map[string]types.AttributeValue{":hash": text(l.KeyHash)}
		writes = append(writes, types.TransactWriteItem{Delete: &types.Delete{TableName: s.table, Key: apiKeyKey(l.KeyHash).attributes()}})
	}
	return translate(s.transact(ctx, writes...), op)
}
