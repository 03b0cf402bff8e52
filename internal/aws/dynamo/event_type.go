package dynamo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
)

type eventTypeItem struct {
	key
	Name        string `dynamodbav:"name"`
	Description string `dynamodbav:"description,omitempty"`
	Group       string `dynamodbav:"group,omitempty"`
	Schema      string `dynamodbav:"schema,omitempty"`  // JSON
	Example     string `dynamodbav:"example,omitempty"` // JSON
	Archived    bool   `dynamodbav:"archived,omitempty"`
	Validation  string `dynamodbav:"validation,omitempty"`
	Version     int64  `dynamodbav:"version"`
	CreatedAt   int64  `dynamodbav:"created_at"`
	UpdatedAt   int64  `dynamodbav:"updated_at"`
}

// catalogueItem counts the types, so that ingest reads one small item.
type catalogueItem struct {
	Version int64 `dynamodbav:"version"`
	Types   int   `dynamodbav:"types"`
	Checked int   `dynamodbav:"checked"`
}

func toEventTypeItem(t hook.EventType) eventTypeItem {
	return eventTypeItem{
		key: eventTypeKey(t.Name), Name: t.Name, Description: t.Description, Group: t.Group, Schema: string(t.Schema),
		Example: string(t.Example), Archived: t.Archived, Validation: word(t.Validation), Version: t.Version,
		CreatedAt: millis(t.CreatedAt), UpdatedAt: millis(t.UpdatedAt),
	}
}

func fromEventTypeItem(it eventTypeItem) (hook.EventType, error) {
	validation, err := parse[hook.Validation](it.Validation)
	t := hook.EventType{
		Name: it.Name, Description: it.Description, Group: it.Group, Archived: it.Archived, Validation: validation,
		Version: it.Version, CreatedAt: fromMillis(it.CreatedAt), UpdatedAt: fromMillis(it.UpdatedAt),
	}
	if it.Schema != "" {
		t.Schema = []byte(it.Schema)
	}
	if it.Example != "" {
		t.Example = []byte(it.Example)
	}
	return t, err
}

// EventType reads one item.
func (s *Store) EventType(ctx context.Context, name string) (hook.EventType, error) {
	var it eventTypeItem
	if err := s.get(ctx, eventTypeKey(name), &it, "event type", name); err != nil {
		return hook.EventType{}, err
	}
	t, err := fromEventTypeItem(it)
	return t, translate(err, "read event type "+name)
}

// TypeListing makes one transaction per 24 names.
func (s *Store) TypeListing(ctx context.Context, eventTypes []string) (ingest.TypeListing, error) {
	const op = "read event types"
	keys := make([]key, len(eventTypes))
	for i, name := range eventTypes {
		keys[i] = eventTypeKey(name)
	}
	var m moment
	torn, err := s.untorn(ctx, func() (err error) {
		m, err = s.asOfOneMoment(ctx, catalogueKey(), keys)
		return err
	})
	if err != nil {
		return ingest.TypeListing{}, translate(err, op)
	}
	found := ingest.TypeListing{Torn: torn}
	if torn {
		if found.Catalogue, err = s.Catalogue(ctx); err != nil {
			return ingest.TypeListing{}, err
		}
		if m.items, err = s.batchGet(ctx, keys); err != nil {
			return ingest.TypeListing{}, translate(err, op)
		}
	} else {
		var it catalogueItem
		if err := attributevalue.UnmarshalMap(m.head, &it); err != nil {
			return ingest.TypeListing{}, translate(err, op)
		}
		found.Catalogue = hook.Catalogue(it)
	}
	for _, item := range m.items {
		t, err := decode(item, fromEventTypeItem)
		if err != nil {
			s.unreadable(ctx, item, err)
		}
		if t.Name != "" { // without the unknown word the environment's validation applies
			found.Types = append(found.Types, t)
		}
	}
	return found, nil
}

// EventTypesAfter makes one query. A page of large types is shorter: one query reads 1 MB.
func (s *Store) EventTypesAfter(ctx context.Context, after string, limit int) (page []hook.EventType, more bool, err error) {
	const op = "list event types"
	query := &dynamodb.QueryInput{
		TableName:                 s.table,
		ConsistentRead:            aws.Bool(true),
		KeyConditionExpression:    aws.String("pk = :pk AND begins_with(sk, :sk)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": text(eventTypesPartition), ":sk": text(eventTypePrefix)},
		Limit:                     aws.Int32(int32(min(max(limit, 1), maxPage))),
	}
	if after != "" { // a start key without an item is valid
		query.ExclusiveStartKey = eventTypeKey(after).attributes()
	}
	out, err := s.db.Query(ctx, query)
	if err != nil {
		return nil, false, translate(err, op)
	}
	return readable(ctx, s, out.Items, fromEventTypeItem), len(out.LastEvaluatedKey) > 0, nil
}

// Catalogue reads one item.
func (s *Store) Catalogue(ctx context.Context) (hook.Catalogue, error) {
	var it catalogueItem
	err := s.get(ctx, catalogueKey(), &it, "catalogue", "of event types")
	if err != nil && hook.CodeOf(err) != hook.CodeNotFound {
		return hook.Catalogue{}, err
	}
	return hook.Catalogue(it), nil
}

// Positions of the writes of a change in its transaction.
const (
	eventTypeWrite = iota
	catalogueWrite
)

// PutEventType writes the type and the catalogue in one transaction.
func (s *Store) PutEventType(ctx context.Context, before, after hook.EventType) error {
	op := "put event type " + after.Name
	after.Version = before.Version + 1
	next, err := s.next(toEventTypeItem(after), before.Version)
	if err != nil {
		return translate(err, op)
	}
	catalogue := s.changeCatalogue(before, after)
	if before.Name == "" {
		catalogue.ConditionExpression = aws.String("attribute_not_exists(#types) OR #types < :most")
		catalogue.ExpressionAttributeValues[":most"] = number(hook.MaxTypesPerEnvironment)
	}
	err = s.transact(ctx, []types.TransactWriteItem{eventTypeWrite: next, catalogueWrite: {Update: catalogue}}...)
	if conditionFailed(err, catalogueWrite) && !conditionFailed(err, eventTypeWrite) {
		return fmt.Errorf("%s: %w", op, hook.TooManyTypes())
	}
	return translate(err, op)
}

// DeleteEventType removes the type and writes the catalogue in one transaction.
func (s *Store) DeleteEventType(ctx context.Context, t hook.EventType) error {
	guard := atVersion(t.Version)
	return translate(s.transact(ctx, []types.TransactWriteItem{
		eventTypeWrite: {Delete: &types.Delete{
			TableName: s.table, Key: eventTypeKey(t.Name).attributes(),
			ConditionExpression: &guard.expression, ExpressionAttributeValues: guard.values,
		}},
		catalogueWrite: {Update: s.changeCatalogue(t, hook.EventType{})},
	}...), "delete event type "+t.Name)
}

// changeCatalogue returns the catalogue's write for the change of a type. The condition of
// the type's write makes before the stored type, so the numbers stay right.
func (s *Store) changeCatalogue(before, after hook.EventType) *types.Update {
	change := hook.Catalogue{}.After(before, after)
	return &types.Update{
		TableName:                s.table,
		Key:                      catalogueKey().attributes(),
		UpdateExpression:         aws.String("ADD version :one, #types :types, checked :checked"),
		ExpressionAttributeNames: map[string]string{"#types": "types"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":one": number(1), ":types": number(int64(change.Types)), ":checked": number(int64(change.Checked)),
		},
	}
}
