package dynamo

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/admin/erasure"
	"surehook.example/surehook/internal/hook"
)

type erasureItem struct {
	key
	erasure.Erasure
}

// toErasureItem returns the next version of e.
func toErasureItem(e erasure.Erasure) erasureItem {
	e.Version++
	return erasureItem{erasureKey(e.Tenant, e.ID), e}
}

// Erasure reads one item.
func (s *Store) Erasure(ctx context.Context, tenant hook.TenantID, id hook.ErasureID) (erasure.Erasure, error) {
	var e erasure.Erasure
	err := s.get(ctx, erasureKey(tenant, id), &e, "erasure", string(id))
	return e, err
}

// BeginErasure makes one transaction. For a marked tenant, the failed condition returns
// the id of the job, and BeginErasure reads the job.
func (s *Store) BeginErasure(ctx context.Context, e erasure.Erasure) (erasure.Erasure, error) {
	op := "begin erasure " + string(e.ID)
	put := s.put(toErasureItem(e), absent())
	mark := &types.Update{
		TableName:           s.table,
		Key:                 tenantKey(e.Tenant).attributes(),
		UpdateExpression:    aws.String(changeTenant + ", closing = :closing"),
		ConditionExpression: aws.String("attribute_not_exists(closing)"),
		ExpressionAttributeValues: changedTenant(e.Tenant, map[string]types.AttributeValue{
			":closing": text(string(e.ID)),
		}),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	err := s.transact(ctx, types.TransactWriteItem{Update: mark}, types.TransactWriteItem{Put: put})
	if conditionFailed(err, 0) {
		var stored tenantItem
		if err := unmarshalRefused(err, 0, &stored); err != nil {
			return erasure.Erasure{}, translate(err, op)
		}
		return s.Erasure(ctx, e.Tenant, stored.Closing)
	}
	if err != nil {
		return erasure.Erasure{}, translate(err, op)
	}
	e = storedErasure(e)
	e.Version++
	return e, nil
}

// storedErasure returns e with times as stored.
func storedErasure(e erasure.Erasure) erasure.Erasure {
	for _, at := range []*time.Time{&e.CreatedAt, &e.UpdatedAt, &e.EndedAt, &e.NotBefore} {
		*at = fromMillis(millis(*at))
	}
	e.ExpiresAt = fromTTL(ttl(e.ExpiresAt))
	return e
}

// SaveErasure makes one conditional write.
func (s *Store) SaveErasure(ctx context.Context, e erasure.Erasure) error {
	return translate(s.saveNext(ctx, toErasureItem(e), e.Version), "save erasure "+string(e.ID))
}

// FinishErasure makes one transaction.
func (s *Store) FinishErasure(ctx context.Context, e erasure.Erasure) error {
	op := "finish erasure " + string(e.ID)
	next := s.next(toErasureItem(e), e.Version)
	err := s.transact(ctx,
		next,
		types.TransactWriteItem{Delete: &types.Delete{TableName: s.table, Key: dataKeyKey(e.Tenant).attributes()}},
		types.TransactWriteItem{Delete: &types.Delete{
			TableName:                 s.table,
			Key:                       tenantKey(e.Tenant).attributes(),
			ConditionExpression:       aws.String("closing = :closing"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":closing": text(string(e.ID))},
		}},
	)
	if err != nil {
		return translate(fmt.Errorf("remove tenant: %w", err), op)
	}
	return nil
}
