package dynamo

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/hook"
)

// linkItem is a portal link. The key of an opened link is an apiKeyItem under the hash.
type linkItem struct {
	key
	hook.PortalLink

	Removed time.Time `stored:"expires_at,seconds"`
}

// PutLink writes one item. An existing id is CodeConflict.
func (s *Store) PutLink(ctx context.Context, l hook.PortalLink) error {
	op := "put portal link " + string(l.ID)
	put := s.put(linkItem{linkKey(l.Tenant, l.ID), l, l.ExpiresAt}, absent())
	return translate(s.write(ctx, put), op)
}

// Link reads one item.
func (s *Store) Link(ctx context.Context, tenant hook.TenantID, id hook.KeyID) (hook.PortalLink, error) {
	var l hook.PortalLink
	err := s.get(ctx, linkKey(tenant, id), &l, "portal link", string(id))
	return l, err
}

// OpenLink writes the hash of the key to the link, and the item of the key, in one
// transaction.
func (s *Store) OpenLink(ctx context.Context, l hook.PortalLink) error {
	op := "open portal link " + string(l.ID)
	put := s.put(toAPIKeyItem(apiKeyKey(l.KeyHash), l.APIKey()), absent())
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
