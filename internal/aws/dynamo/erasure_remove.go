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
