package dynamo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/conflict"
	"surehook.example/surehook/internal/hook"
)

// Store implements all storage ports on one table. It is safe for concurrent use.
//
// # Errors
//
// All errors wrap a hook.Error with one of the codes of the ports, or with
//   - CodeUnavailable when DynamoDB throttles, does not answer, or reports a
//     conflict with a concurrent transaction;
//   - CodeInternal in all other cases.
//
// # Precision
//
// Times are stored in UTC milliseconds, rate slots in nanoseconds, and expiry
// times in whole seconds.
//
// # Lost answers
//
// The SDK repeats a request after a lost answer. A repeated transaction succeeds, because
// the SDK gives it a token. A repeated conditional write meets its own first write: circuits,
// jobs and erasures name the writer of each version, so their writes recognize themselves.
// PutEvent, SaveDelivery and ChangeLimits return CodeConflict; callers recognize their own
// write by the event's nonce, the delivery's token or the lease.
type Store struct {
	// Wait blocks between two requests for unprocessed keys; nil: by the real clock.
	Wait conflict.Wait
	// Unreadable is called for each record that a list or a batch leaves out, because this
	// build does not know a word or a form in the record; nil: nobody is told.
	Unreadable func(ctx context.Context, record string, err error)

	db      Requests
	table   *string
	payload codec
	types   typeCache
}

// New returns the store in the table.
func New(cfg aws.Config, table string) *Store { return Over(newClient(cfg), table) }

// Over returns the store in the table, with other requests than the SDK's.
func Over(db Requests, table string) *Store {
	return &Store{db: db, table: &table, payload: newCodec()}
}

// get reads a record into out, a pointer. what and id name the record in errors. A missing
// item is CodeNotFound.
func (s *Store) get(ctx context.Context, k key, out any, what, id string) error {
	item, err := s.getItem(ctx, k, what, id)
	if err != nil {
		return err
	}
	return translate(decodeItem(item, out), "read "+what+" "+id)
}

func (s *Store) getItem(ctx context.Context, k key, what, id string) (map[string]types.AttributeValue, error) {
	op := "read " + what + " " + id
	got, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: s.table, Key: k.attributes(), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return nil, translate(err, op)
	}
	if len(got.Item) == 0 {
		return nil, fmt.Errorf("%s: %w", op, hook.NotFound(what))
	}
	return got.Item, nil
}

// listRecords reads all records of a partition with the sort key prefix, in the order of the sort key.
func listRecords[T any](ctx context.Context, s *Store, partition, prefix, op string) ([]T, error) {
	items, err := s.listItems(ctx, partition, prefix)
	if err != nil {
		return nil, translate(err, op)
	}
	records, err := decodeItems[T](items)
	return records, translate(err, op)
}

// listItems reads all items of a partition with the sort key prefix, in the order of
// the sort key.
func (s *Store) listItems(ctx context.Context, partition, prefix string) (items []map[string]types.AttributeValue, err error) {
	pages := dynamodb.NewQueryPaginator(s.db, &dynamodb.QueryInput{
		TableName:                 s.table,
		ConsistentRead:            aws.Bool(true),
		KeyConditionExpression:    aws.String("pk = :pk AND begins_with(sk, :sk)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": text(partition), ":sk": text(prefix)},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		items = append(items, page.Items...)
	}
	return items, nil
}

// condition guards a write.
type condition struct {
	expression string
	values     map[string]types.AttributeValue
	names      map[string]string // of reserved words
}

// absent requires that the item does not exist.
func absent() condition { return condition{expression: "attribute_not_exists(pk)"} }

// atVersion requires that the item exists in the given version.
func atVersion(version int64) condition {
	return condition{expression: "version = :version", values: map[string]types.AttributeValue{":version": number(version)}}
}

// asRead requires the version of the last read. Version 0 means that the item
// does not exist.
func asRead(version int64) condition {
	if version == 0 {
		return absent()
	}
	return atVersion(version)
}

// put returns the write of an item, given as a struct. The zero condition makes
// the write unconditional.
func (s *Store) put(item any, c condition) *types.Put {
	put := &types.Put{TableName: s.table, Item: encodeItem(item), ExpressionAttributeValues: c.values, ExpressionAttributeNames: c.names}
	if c.expression != "" {
		put.ConditionExpression = &c.expression
	}
	return put
}

// write makes a single write.
func (s *Store) write(ctx context.Context, put *types.Put) error {
	_, err := s.db.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                 put.TableName,
		Item:                      put.Item,
		ConditionExpression:       put.ConditionExpression,
		ExpressionAttributeValues: put.ExpressionAttributeValues,
		ExpressionAttributeNames:  put.ExpressionAttributeNames,

		ReturnValuesOnConditionCheckFailure: put.ReturnValuesOnConditionCheckFailure,
	})
	return err
}

// transact makes all writes or none. The SDK adds an idempotency token to each
// call, so a retry after a lost answer changes nothing and succeeds.
func (s *Store) transact(ctx context.Context, writes ...types.TransactWriteItem) error {
	_, err := s.db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: writes})
	return err
}
