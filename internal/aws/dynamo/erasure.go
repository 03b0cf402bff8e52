package dynamo

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/admin/erasure"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
)

type erasureItem struct {
	key
	ID        hook.ErasureID `dynamodbav:"id"`
	Tenant    hook.TenantID  `dynamodbav:"tenant"`
	By        hook.KeyID     `dynamodbav:"by,omitempty"`
	CreatedAt int64          `dynamodbav:"created_at"`
	UpdatedAt int64          `dynamodbav:"updated_at"`
	EndedAt   int64          `dynamodbav:"ended_at,omitempty"`
	ExpiresAt int64          `dynamodbav:"expires_at,omitempty"`
	Version   int64          `dynamodbav:"version"`
	Stage     string         `dynamodbav:"stage"`
	Cursor    string         `dynamodbav:"cursor,omitempty"`
	Dirty     bool           `dynamodbav:"dirty,omitempty"`
	Passes    int            `dynamodbav:"passes,omitempty"`
	NotBefore int64          `dynamodbav:"not_before,omitempty"`
	Removed   countsItem     `dynamodbav:"removed"`
	Next      string         `dynamodbav:"next,omitempty"`
	Previous  string         `dynamodbav:"previous,omitempty"`
}

type countsItem struct {
	Keys       int `dynamodbav:"keys,omitempty"`
	Endpoints  int `dynamodbav:"endpoints,omitempty"`
	Events     int `dynamodbav:"events,omitempty"`
	Deliveries int `dynamodbav:"deliveries,omitempty"`
	Attempts   int `dynamodbav:"attempts,omitempty"`
	Replays    int `dynamodbav:"replays,omitempty"`
	Other      int `dynamodbav:"other,omitempty"`
}

// toErasureItem returns the next version of e.
func toErasureItem(e erasure.Erasure) erasureItem {
	return erasureItem{
		key: erasureKey(e.Tenant, e.ID), ID: e.ID, Tenant: e.Tenant, By: e.By,
		CreatedAt: millis(e.CreatedAt), UpdatedAt: millis(e.UpdatedAt), EndedAt: millis(e.EndedAt), ExpiresAt: ttl(e.ExpiresAt),
		Version: e.Version + 1, Stage: word(e.Stage), Cursor: e.Cursor, Dirty: e.Dirty, Passes: e.Passes,
		NotBefore: millis(e.NotBefore), Removed: countsItem(e.Removed), Next: e.Next, Previous: e.Previous,
	}
}

func fromErasureItem(it erasureItem) (erasure.Erasure, error) {
	stage, err := parse[erasure.Stage](it.Stage)
	return erasure.Erasure{
		ID: it.ID, Tenant: it.Tenant, By: it.By,
		CreatedAt: fromMillis(it.CreatedAt), UpdatedAt: fromMillis(it.UpdatedAt), EndedAt: fromMillis(it.EndedAt), ExpiresAt: fromTTL(it.ExpiresAt),
		Version: it.Version, Stage: stage, Cursor: it.Cursor, Dirty: it.Dirty, Passes: it.Passes,
		NotBefore: fromMillis(it.NotBefore), Removed: erasure.Counts(it.Removed),
		Chain: replay.Chain{Next: it.Next, Previous: it.Previous},
	}, err
}

// Erasure reads one item.
func (s *Store) Erasure(ctx context.Context, tenant hook.TenantID, id hook.ErasureID) (erasure.Erasure, error) {
	var it erasureItem
	if err := s.get(ctx, erasureKey(tenant, id), &it, "erasure", string(id)); err != nil {
		return erasure.Erasure{}, err
	}
	e, err := fromErasureItem(it)
	return e, translate(err, "read erasure "+string(id))
}

// BeginErasure makes one transaction. For a marked tenant, the failed condition returns
// the id of the job, and BeginErasure reads the job.
func (s *Store) BeginErasure(ctx context.Context, e erasure.Erasure) (erasure.Erasure, error) {
	op := "begin erasure " + string(e.ID)
	put, err := s.put(toErasureItem(e), absent())
	if err != nil {
		return erasure.Erasure{}, translate(err, op)
	}
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
	err = s.transact(ctx, types.TransactWriteItem{Update: mark}, types.TransactWriteItem{Put: put})
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
	next, err := s.next(toErasureItem(e), e.Version)
	if err != nil {
		return translate(err, op)
	}
	err = s.transact(ctx,
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
