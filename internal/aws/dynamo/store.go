package dynamo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/cache"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/store"
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
// the SDK gives it a task. A repeated conditional write meets its own first write: circuits,
// jobs and erasures name the writer of each version, so their writes recognize themselves.
// PutEvent, SaveDelivery and ChangeLimits return CodeConflict; callers recognize their own
// write by the event's nonce, the delivery's task or the lease.
type Store struct {
	// Wait blocks between two requests for unprocessed keys; nil: by the real clock.
	Wait store.Wait
	// Unreadable is called for each record that a list or a batch leaves out, because this
	// build does not know a word or a form in the record; nil: nobody is told.
	Unreadable func(ctx context.Context, record string, err error)

	db      Requests
	table   *string
	payload codec
	types   *cache.Cache[endpointHour, []string] // of the items with counts
}

// New returns the store in the table.
func New(cfg aws.Config, table string) *Store { return Over(newClient(cfg), table) }

// Over returns the store in the table, with other requests than the SDK's.
func Over(db Requests, table string) *Store {
	return &Store{db: db, table: &table, payload: newCodec(), types: cache.New[endpointHour, []string](maxKnown, nil)}
}

// read returns the record with the key. what and id name the record in errors. A missing item is
// CodeNotFound.
func read[T any](ctx context.Context, s *Store, k key, what, id string, only ...string) (record T, err error) {
	op := "read " + what + " " + id
	get := &dynamodb.GetItemInput{TableName: s.table, Key: k.attributes(), ConsistentRead: aws.Bool(true)}
	get.ProjectionExpression, get.ExpressionAttributeNames = projected(only)
	got, err := s.db.GetItem(ctx, get)
	if err != nil {
		return record, translate(err, op)
	}
	if len(got.Item) == 0 {
		return record, fmt.Errorf("%s: %w", op, hook.NotFound(what))
	}
	record, err = decode[T](s, got.Item)
	return record, translate(err, op)
}

// readOr is read of a record that need not exist: none stands for a missing one.
func readOr[T any](ctx context.Context, s *Store, k key, what, id string, none T, only ...string) (T, error) {
	record, err := read[T](ctx, s, k, what, id, only...)
	if hook.CodeOf(err) == hook.CodeNotFound {
		return none, nil
	}
	return record, err
}

// projected returns the projection of the named attributes, some of which have reserved names; none
// stands for all.
func projected(only []string) (*string, map[string]string) {
	if len(only) == 0 {
		return nil, nil
	}
	words, of := make([]string, len(only)), make(map[string]string, len(only))
	for i, name := range only {
		words[i] = "#" + name
		of[words[i]] = name
	}
	return aws.String(strings.Join(words, ", ")), of
}

// listRecords reads all records of a partition with the sort key prefix, in the order of the sort key.
func listRecords[T any](ctx context.Context, s *Store, partition, prefix, op string) ([]T, error) {
	items, err := s.all(ctx, s.sorted(partition, prefix))
	if err != nil {
		return nil, translate(err, op)
	}
	records, err := decodeItems[T](items)
	return records, translate(err, op)
}

// all returns the items of all pages of the query.
func (s *Store) all(ctx context.Context, query *dynamodb.QueryInput) (items []attributes, err error) {
	for pages := dynamodb.NewQueryPaginator(s.db, query); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		items = append(items, page.Items...)
	}
	return items, nil
}

// page makes one query for at most limit items.
func (s *Store) page(ctx context.Context, query *dynamodb.QueryInput, limit int) (items []attributes, more bool, err error) {
	query.Limit = aws.Int32(int32(limit)) //nolint:gosec // at most maxRows
	out, err := s.db.Query(ctx, query)
	if err != nil {
		return nil, false, err
	}
	return out.Items, len(out.LastEvaluatedKey) > 0, nil
}

// Conditions of a query on the sort key.
const (
	begins  = "begins_with(%s, :from)"
	between = "%s BETWEEN :from AND :to" // both included
	above   = "%s > :from"
	below   = "%s < :from"
)

// query returns a query of a partition of the index, or of the table if index is empty. where is a
// condition on the sort key with its bounds; empty for all items.
func (s *Store) query(index, partition, where string, bounds ...string) *dynamodb.QueryInput {
	query := &dynamodb.QueryInput{TableName: s.table, ExpressionAttributeValues: attributes{":pk": text(partition)}}
	hash, sort := names.PartitionKey, names.SortKey
	switch index {
	case names.IndexByEndpoint:
		hash, sort = names.ByEndpointHash, names.ByEndpointRange
	case names.IndexByState:
		hash, sort = names.ByStateHash, names.ByStateRange
	}
	if index != "" {
		query.IndexName = &index
	}
	condition := hash + " = :pk"
	if where != "" {
		condition += " AND " + fmt.Sprintf(where, sort)
	}
	query.KeyConditionExpression = &condition
	for i, bound := range bounds {
		query.ExpressionAttributeValues[[]string{":from", ":to"}[i]] = text(bound)
	}
	return query
}

// consistent returns a query of the table that sees every write acknowledged before.
func (s *Store) consistent(partition, where string, bounds ...string) *dynamodb.QueryInput {
	query := s.query("", partition, where, bounds...)
	query.ConsistentRead = aws.Bool(true)
	return query
}

// sorted returns a consistent query of the items of a partition with the sort key prefix.
func (s *Store) sorted(partition, prefix string) *dynamodb.QueryInput {
	if prefix == "" {
		return s.consistent(partition, "")
	}
	return s.consistent(partition, begins, prefix)
}

// condition guards a write.
type condition struct {
	expression string
	values     attributes
	names      map[string]string // of reserved words
}

// where returns a condition with the values in it.
func where(expression string, values attributes) condition {
	return condition{expression: expression, values: values}
}

// given returns the expression; nil for the zero condition.
func (c condition) given() *string {
	if c.expression == "" {
		return nil
	}
	return &c.expression
}

// absent requires that the item does not exist.
func absent() condition { return condition{expression: "attribute_not_exists(pk)"} }

// atVersion requires that the item exists in the given version.
func atVersion(version int64) condition {
	return where("version = :version", attributes{":version": number(version)})
}

// asRead requires the version of the last read. Version 0 means that the item
// does not exist.
func asRead(version int64) condition {
	if version == 0 {
		return absent()
	}
	return atVersion(version)
}

// and requires both.
func (c condition) and(other condition) condition {
	if c.expression == "" || other.expression == "" {
		return condition{c.expression + other.expression, merged(c.values, other.values), merged(c.names, other.names)}
	}
	return condition{c.expression + " AND " + other.expression, merged(c.values, other.values), merged(c.names, other.names)}
}

// merged returns the entries of both maps; nil for none, because DynamoDB refuses empty maps.
func merged[V any](a, b map[string]V) map[string]V {
	if len(a)+len(b) == 0 {
		return nil
	}
	all := maps.Clone(a)
	if all == nil {
		all = make(map[string]V, len(b))
	}
	maps.Copy(all, b)
	return all
}

// write is a write of one item, by itself or in a transaction.
type write struct {
	types.TransactWriteItem

	// refused returns the error of a failed condition, in place of CodeConflict. It gets the stored item
	// if the write asks for it; see asking.
	refused func(stored attributes) error
}

// orElse returns the write with the error of a failed condition.
func (w write) orElse(err error) write {
	w.refused = func(attributes) error { return err }
	return w
}

// asking returns the write with what becomes of a failed condition. The answer then has the stored item.
func (w write) asking(refused func(stored attributes) error) write {
	w.refused = refused
	if w.Put != nil {
		w.Put.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	}
	if w.Update != nil {
		w.Update.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	}
	return w
}

// put returns the write of an item, given as its key and the records in it. The zero condition makes
// the write unconditional.
func (s *Store) put(k key, c condition, records ...any) write {
	return write{TransactWriteItem: types.TransactWriteItem{Put: &types.Put{
		TableName: s.table, Item: encodeItem(append(records, k)...),
		ConditionExpression: c.given(), ExpressionAttributeValues: c.values, ExpressionAttributeNames: c.names,
	}}}
}

// update returns the update of an item.
func (s *Store) update(k key, expression string, c condition, values attributes) write {
	return write{TransactWriteItem: types.TransactWriteItem{Update: &types.Update{
		TableName: s.table, Key: k.attributes(), UpdateExpression: &expression, ConditionExpression: c.given(),
		ExpressionAttributeValues: merged(c.values, values), ExpressionAttributeNames: merged(c.names, nil),
	}}}
}

// removal returns the removal of an item, which is only a part of a transaction.
func (s *Store) removal(k key, c condition) write {
	return write{TransactWriteItem: types.TransactWriteItem{Delete: &types.Delete{
		TableName: s.table, Key: k.attributes(),
		ConditionExpression: c.given(), ExpressionAttributeValues: c.values, ExpressionAttributeNames: c.names,
	}}}
}

// exists requires that the item exists.
func exists() condition { return condition{expression: "attribute_exists(pk)"} }

// keysFor returns the keys of the records that all name.
func keysFor[T any](all []T, of func(T) key) []key {
	keys := make([]key, len(all))
	for i, one := range all {
		keys[i] = of(one)
	}
	return keys
}

// commit makes all writes or none: several in a transaction. If conditions fail, the first one decides
// about the error. The SDK adds an idempotency token to each transaction, so a retry after a lost answer
// changes nothing and succeeds.
func (s *Store) commit(ctx context.Context, op string, writes ...write) error {
	err := s.request(ctx, writes)
	if i, stored, failed := firstRefused(err); failed && i < len(writes) && writes[i].refused != nil {
		err = writes[i].refused(stored)
		if _, known := errors.AsType[*hook.Error](err); known {
			return fmt.Errorf("%s: %w", op, err)
		}
	}
	return translate(err, op)
}

func (s *Store) request(ctx context.Context, writes []write) (err error) {
	switch p, u := writes[0].Put, writes[0].Update; {
	case len(writes) == 1 && p != nil:
		_, err = s.db.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: p.TableName, Item: p.Item, ConditionExpression: p.ConditionExpression,
			ExpressionAttributeNames: p.ExpressionAttributeNames, ExpressionAttributeValues: p.ExpressionAttributeValues,
			ReturnValuesOnConditionCheckFailure: p.ReturnValuesOnConditionCheckFailure,
		})
	case len(writes) == 1 && u != nil:
		_, err = s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: u.TableName, Key: u.Key, UpdateExpression: u.UpdateExpression, ConditionExpression: u.ConditionExpression,
			ExpressionAttributeNames: u.ExpressionAttributeNames, ExpressionAttributeValues: u.ExpressionAttributeValues,
			ReturnValuesOnConditionCheckFailure: u.ReturnValuesOnConditionCheckFailure,
		})
	default:
		all := make([]types.TransactWriteItem, len(writes))
		for i, w := range writes {
			all[i] = w.TransactWriteItem
		}
		_, err = s.db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: all})
	}
	return err
}
