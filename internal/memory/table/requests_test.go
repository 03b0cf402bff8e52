package table_test

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/memory/table"
)

func TestRequests_NameTheTable(t *testing.T) {
	t.Parallel()

	missing := func(err error) bool { return errors.As(err, new(*types.ResourceNotFoundException)) }
	for i, call := range everyCall(t.Context(), table.New(schema())) {
		if err := call(aws.String("other")); !missing(err) {
			t.Errorf("call %d of another table: error = %v", i, err)
		}
		refused(t, call(nil), "TableName")
	}
}

// everyCall returns one request of each kind, for the table of a name.
func everyCall(ctx context.Context, tb *table.Table) []func(table *string) error {
	k := key("p", "s")
	return []func(table *string) error{
		func(n *string) error {
			_, err := tb.GetItem(ctx, &dynamodb.GetItemInput{TableName: n, Key: k})
			return err
		},
		func(n *string) error {
			_, err := tb.PutItem(ctx, &dynamodb.PutItemInput{TableName: n, Item: k})
			return err
		},
		func(n *string) error {
			_, err := tb.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: n, Key: k})
			return err
		},
		func(n *string) error { _, err := tb.Query(ctx, &dynamodb.QueryInput{TableName: n}); return err },
		func(n *string) error { _, err := tb.Scan(ctx, &dynamodb.ScanInput{TableName: n}); return err },
		func(n *string) error {
			_, err := tb.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{aws.ToString(n): {Keys: []item{k}}}})
			return err
		},
		func(n *string) error {
			_, err := tb.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{aws.ToString(n): {{DeleteRequest: &types.DeleteRequest{Key: k}}}}})
			return err
		},
		func(n *string) error {
			return transact(ctx, tb, types.TransactWriteItem{Put: &types.Put{TableName: n, Item: k}})
		},
		func(n *string) error {
			return transact(ctx, tb, types.TransactWriteItem{Update: &types.Update{TableName: n, Key: k, UpdateExpression: aws.String("REMOVE a")}})
		},
		func(n *string) error {
			return transact(ctx, tb, types.TransactWriteItem{Delete: &types.Delete{TableName: n, Key: k}})
		},
		func(n *string) error {
			_, err := tb.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{{Get: &types.Get{TableName: n, Key: k}}}})
			return err
		},
	}
}

// No request may set what the table would ignore.
func TestRequests_SetNoFieldThatIsIgnored(t *testing.T) {
	t.Parallel()

	tb := table.New(schema())
	for field, call := range ignored(t.Context(), tb) {
		refused(t, call(), field)
	}
	tb.Each(func(k table.Key, _ table.Item) bool {
		t.Errorf("a refused request wrote %v", k)
		return true
	})
}

// ignored returns requests that set a field which the table does not support, by the name
// of the field.
func ignored(ctx context.Context, tb *table.Table) map[string]func() error {
	k := key("p", "s")
	total, size := types.ReturnConsumedCapacityTotal, types.ReturnItemCollectionMetricsSize
	twoTables := map[string]types.KeysAndAttributes{"surehook": {Keys: []item{k}}, "other": {Keys: []item{k}}}
	expected := map[string]types.ExpectedAttributeValue{"a": {Exists: aws.Bool(false)}}
	return map[string]func() error{
		"names one table": func() error {
			_, err := tb.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: twoTables})
			return err
		},
		"AttributesToGet of GetItemInput": func() error {
			_, err := tb.GetItem(ctx, &dynamodb.GetItemInput{TableName: name(), Key: k, AttributesToGet: []string{"a"}})
			return err
		},
		"ReturnConsumedCapacity of GetItemInput": func() error {
			_, err := tb.GetItem(ctx, &dynamodb.GetItemInput{TableName: name(), Key: k, ReturnConsumedCapacity: total})
			return err
		},
		"ReturnValues of PutItemInput": func() error {
			_, err := tb.PutItem(ctx, &dynamodb.PutItemInput{TableName: name(), Item: k, ReturnValues: types.ReturnValueAllOld})
			return err
		},
		"Expected of PutItemInput": func() error {
			_, err := tb.PutItem(ctx, &dynamodb.PutItemInput{TableName: name(), Item: k, Expected: expected})
			return err
		},
		"ConditionalOperator": func() error {
			_, err := tb.PutItem(ctx, &dynamodb.PutItemInput{TableName: name(), Item: k, ConditionalOperator: types.ConditionalOperatorOr})
			return err
		},
		"returns ALL_NEW": func() error {
			_, err := tb.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: name(), Key: k, ReturnValues: types.ReturnValueUpdatedNew})
			return err
		},
		"AttributeUpdates": func() error {
			_, err := tb.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: name(), Key: k, AttributeUpdates: map[string]types.AttributeValueUpdate{}})
			return err
		},
		"ReturnItemCollectionMetrics": func() error {
			_, err := tb.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: name(), Key: k, ReturnItemCollectionMetrics: size})
			return err
		},
		"shows ALL_OLD": func() error {
			_, err := tb.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: name(), Key: k, ReturnValuesOnConditionCheckFailure: "ALL_NEW"})
			return err
		},
		"ReturnConsumedCapacity of Batch": func() error {
			_, err := tb.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: twoTables, ReturnConsumedCapacity: total})
			return err
		},
		"ReturnItemCollectionMetrics of Batch": func() error {
			_, err := tb.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{ReturnItemCollectionMetrics: size})
			return err
		},
		"AttributesToGet of Keys": func() error {
			_, err := tb.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"surehook": {Keys: []item{k}, AttributesToGet: []string{"a"}}}})
			return err
		},
		"ReturnConsumedCapacity of TransactW": func() error {
			_, err := tb.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{ReturnConsumedCapacity: total})
			return err
		},
		"ReturnConsumedCapacity of TransactG": func() error {
			_, err := tb.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{ReturnConsumedCapacity: total})
			return err
		},
		"part of a transaction": func() error { return transact(ctx, tb, types.TransactWriteItem{}) },
		"one of a put": func() error {
			return transact(ctx, tb, types.TransactWriteItem{Put: &types.Put{TableName: name(), Item: k}, Delete: &types.Delete{TableName: name(), Key: k}})
		},
		"an update with an": func() error {
			return transact(ctx, tb, types.TransactWriteItem{Update: &types.Update{TableName: name(), Key: k}})
		},
		"a part of a transaction": func() error {
			return transact(ctx, tb, types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: name(), Key: k}})
		},
		"must have a Get": func() error {
			_, err := tb.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{{}}})
			return err
		},
		"does not match the schema": func() error {
			_, err := tb.GetItem(ctx, &dynamodb.GetItemInput{TableName: name(), Key: with(k, item{"a": str("x")})})
			return err
		},
		"deletes": func() error {
			_, err := tb.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"surehook": {{}}}})
			return err
		},
	}
}
