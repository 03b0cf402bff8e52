package dynamo

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"surehook.example/surehook/internal/admin/erasure"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/store"
)

// Erasure reads one item.
func (s *Store) Erasure(ctx context.Context, tenant hook.TenantID, id hook.ErasureID) (erasure.Erasure, error) {
	return read[erasure.Erasure](ctx, s, erasureKey(tenant, id), "erasure", string(id))
}

// BeginErasure makes one transaction. For a marked tenant, the failed condition returns
// the id of the job, and BeginErasure reads the job.
func (s *Store) BeginErasure(ctx context.Context, e erasure.Erasure) (erasure.Erasure, error) {
	op := "begin erasure " + string(e.ID)
	put := s.next(erasureKey(e.Tenant, e.ID), 0, e)
	open := condition{expression: "attribute_not_exists(closing)"}
	var marked *tenantItem // by another job
	mark := s.changeTenant(e.Tenant, ", closing = :closing", open, attributes{":closing": text(string(e.ID))}).
		asking(func(stored attributes) error {
			marked = new(tenantItem)
			return decodeItem(stored, marked)
		})
	if err := s.commit(ctx, op, mark, put); err != nil {
		return erasure.Erasure{}, err
	}
	if marked != nil {
		return s.Erasure(ctx, e.Tenant, marked.Closing)
	}
	err := decodeItem(put.Put.Item, &e) // the times as stored
	return e, translate(err, op)
}

// SaveErasure makes one conditional write.
func (s *Store) SaveErasure(ctx context.Context, e erasure.Erasure) error {
	return s.saveNext(ctx, "save erasure "+string(e.ID), erasureKey(e.Tenant, e.ID), e.Version, e)
}

// FinishErasure makes one transaction.
func (s *Store) FinishErasure(ctx context.Context, e erasure.Erasure) error {
	next := s.next(erasureKey(e.Tenant, e.ID), e.Version, e)
	marked := where("closing = :closing", attributes{":closing": text(string(e.ID))})
	return s.commit(ctx, "finish erasure "+string(e.ID), next, s.removal(dataKeyKey(e.Tenant), condition{}), s.removal(tenantKey(e.Tenant), marked))
}

// RemoveRecords makes one request per 25 records, 8 at the same time, and repeats the
// unprocessed removals of a throttled request.
func (s *Store) RemoveRecords(ctx context.Context, tenant hook.TenantID, records []erasure.Record) error {
	unique := make(map[string]struct{}, len(records))
	var deletes []types.WriteRequest
	for _, r := range records {
		if _, ok := unique[r.Key]; !ok { // DynamoDB refuses a repeated key
			unique[r.Key] = struct{}{}
			deletes = append(deletes, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: keyOf(r.Key).attributes()}})
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxShardQueries)
	for chunk := range slices.Chunk(deletes, maxBatchWrites) {
		group.Go(func() error { return s.remove(ctx, chunk) })
	}
	return translate(group.Wait(), fmt.Sprintf("remove %d records of tenant %s", len(records), tenant))
}

func (s *Store) remove(ctx context.Context, deletes []types.WriteRequest) error {
	return store.Persist(ctx, s.Wait, maxRounds, func() error {
		out, err := s.db.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{*s.table: deletes},
		})
		if err != nil {
			return err
		}
		if deletes = out.UnprocessedItems[*s.table]; len(deletes) > 0 {
			return errUnprocessed
		}
		return nil
	})
}
