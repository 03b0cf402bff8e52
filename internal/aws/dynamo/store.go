package dynamo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook/internal/hook"
)

// Store keeps everything in one table. It is safe for concurrent use. Its
// errors are hook.Errors: the codes that the ports name, CodeUnavailable when
// DynamoDB throttles, conflicts with a concurrent transaction or does not
// answer, and CodeInternal for the rest.
//
// Times are kept in UTC milliseconds, slots of a rate limit in nanoseconds; the
// time at which a record is removed is kept in whole seconds.
type Store struct {
	db      *dynamodb.Client
	table   *string
	payload codec
}

// New returns the store in the table.
func New(cfg aws.Config, table string) *Store {
	return &Store{db: dynamodb.NewFromConfig(cfg), table: &table, payload: newCodec()}
}

// get reads an item into out, a pointer to its struct. what and id name it in
// errors; CodeNotFound if there is none.
func (s *Store) get(ctx context.Context, k key, out any, what, id string) error {
	op := "read " + what + " " + id
	got, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: s.table, Key: k.attributes(), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return translate(err, op)
	}
	if len(got.Item) == 0 {
		return fmt.Errorf("%s: %w", op, hook.NotFound(what))
	}
	return translate(attributevalue.UnmarshalMap(got.Item, out), op)
}

// list reads all items of a partition whose sort key begins with the prefix,
// in the order of the sort key, into out, a pointer to a slice of their structs.
func (s *Store) list(ctx context.Context, partition, prefix string, out any, op string) error {
	var items []map[string]types.AttributeValue
	pages := dynamodb.NewQueryPaginator(s.db, &dynamodb.QueryInput{
		TableName:                 s.table,
		ConsistentRead:            aws.Bool(true),
		KeyConditionExpression:    aws.String("pk = :pk AND begins_with(sk, :sk)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": text(partition), ":sk": text(prefix)},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return translate(err, op)
		}
		items = append(items, page.Items...)
	}
	return translate(attributevalue.UnmarshalListOfMaps(items, out), op)
}

// condition guards a write.
type condition struct {
	expression string
	values     map[string]types.AttributeValue
}

// absent holds when there is no such item.
func absent() condition { return condition{expression: "attribute_not_exists(pk)"} }

// atVersion holds when the item is there in this version.
func atVersion(version int64) condition {
	return condition{"version = :version", map[string]types.AttributeValue{":version": number(version)}}
}

// asRead holds when the item is there in this version; absent when that is 0.
func asRead(version int64) condition {
	if version == 0 {
		return absent()
	}
	return atVersion(version)
}

// put returns the write of an item, given as its struct. A condition without
// an expression always holds.
func (s *Store) put(item any, c condition) (*types.Put, error) {
	attributes, err := attributevalue.MarshalMap(item)
	if err != nil {
		return nil, fmt.Errorf("encode item: %w", err)
	}
	put := &types.Put{TableName: s.table, Item: attributes, ExpressionAttributeValues: c.values}
	if c.expression != "" {
		put.ConditionExpression = &c.expression
	}
	return put, nil
}

// write makes one write by itself.
func (s *Store) write(ctx context.Context, put *types.Put) error {
	_, err := s.db.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                 put.TableName,
		Item:                      put.Item,
		ConditionExpression:       put.ConditionExpression,
		ExpressionAttributeValues: put.ExpressionAttributeValues,
	})
	return err //nolint:wrapcheck // the caller translates
}

// transact makes all writes or none. The SDK gives each call a token, so that
// its own retry of a call whose answer was lost changes nothing and succeeds.
func (s *Store) transact(ctx context.Context, writes ...types.TransactWriteItem) error {
	_, err := s.db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: writes})
	return err //nolint:wrapcheck // the caller translates
}
