package table_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/memory/table"
)

func transact(ctx context.Context, tb *table.Table, parts ...types.TransactWriteItem) error {
	_, err := tb.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: parts})
	return err
}

func add(sort string) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: name(), Key: key("p", sort), UpdateExpression: aws.String("ADD n :1"), ExpressionAttributeValues: item{":1": number("1")},
	}}
}

// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
func TestTransaction_ReasonsComeInOrder(t *testing.T) {
	t.Parallel()

	tb := table.New(schema())
	there := with(key("p", "there"), item{"a": str("x"), "filler": str(strings.Repeat("x", 399<<10))})
	mustPut(t, tb, there)
	all, exists, gone := types.ReturnValuesOnConditionCheckFailureAllOld, aws.String("attribute_exists(pk)"), aws.String("attribute_not_exists(pk)")
	err := transact(
		t.Context(), tb, add("fine"),
		types.TransactWriteItem{Put: &types.Put{TableName: name(), Item: key("p", "there"), ConditionExpression: gone, ReturnValuesOnConditionCheckFailure: all}},
		types.TransactWriteItem{Delete: &types.Delete{TableName: name(), Key: key("p", "none"), ConditionExpression: exists, ReturnValuesOnConditionCheckFailure: all}},
		types.TransactWriteItem{Delete: &types.Delete{TableName: name(), Key: key("p", "none2"), ConditionExpression: exists}},
		types.TransactWriteItem{Update: &types.Update{TableName: name(), Key: key("p", "lost"), UpdateExpression: aws.String("SET a = b")}},
		types.TransactWriteItem{Delete: &types.Delete{TableName: name(), Key: key("p", "fine2")}},
	)
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) {
		t.Fatalf("error = %v", err)
	}
	var codes []string
	for _, r := range cancelled.CancellationReasons {
		codes = append(codes, aws.ToString(r.Code))
	}
	if want := []string{"None", "ConditionalCheckFailed", "ConditionalCheckFailed", "ConditionalCheckFailed", "ValidationError", "None"}; !reflect.DeepEqual(codes, want) {
		t.Errorf("reasons = %v; want %v", codes, want)
	}
	if r := cancelled.CancellationReasons; !reflect.DeepEqual(r[1].Item, there) || r[2].Item != nil || !strings.Contains(aws.ToString(r[4].Message), "does not exist") {
		t.Errorf("reasons = %+v", r)
	}
	if it := get(t, tb, key("p", "fine")); it != nil {
		t.Errorf("a cancelled transaction wrote %v", it)
	}
	err = transact(t.Context(), tb, types.TransactWriteItem{Update: &types.Update{TableName: name(), Key: key("p", "there"), UpdateExpression: aws.String("SET b = filler")}})
	if !errors.As(err, &cancelled) || aws.ToString(cancelled.CancellationReasons[0].Code) != "ValidationError" {
		t.Errorf("an item above 400 KB: error = %v", err)
	}
}

func TestTransaction_Refused(t *testing.T) {
	t.Parallel()

	tb := table.New(schema())
	refused(t, transact(t.Context(), tb, add("a"), add("b"), add("a")), "multiple operations on one item")
	refused(t, transact(t.Context(), tb, add("a"), types.TransactWriteItem{Delete: &types.Delete{TableName: name(), Key: key("p", "a"), ConditionExpression: aws.String("attribute_exists(a)")}}), "multiple operations")
	refused(t, transact(t.Context(), tb, add("a"), types.TransactWriteItem{Update: &types.Update{TableName: name(), Key: key("p", "b"), UpdateExpression: aws.String("SET a")}}), "Syntax error")
	get := types.TransactGetItem{Get: &types.Get{TableName: name(), Key: key("p", "a")}}
	_, err := tb.TransactGetItems(t.Context(), &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{get, get}})
	refused(t, err, "duplicates")
}

func TestTransaction_TokenHoldsForTenMinutes(t *testing.T) {
	t.Parallel()

	tb := table.New(schema())
	now := time.Unix(1_800_000_000, 0)
	tb.Now = func() time.Time { return now }
	for _, want := range []string{"[n:1]", "[n:1]", "[n:2]"} {
		_, err := tb.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{add("a")}, ClientRequestToken: aws.String("token")})
		if got := read(get(t, tb, key("p", "a"))); err != nil || got != want {
			t.Errorf("the item is %s, %v; want %s", got, err, want)
		}
		now = now.Add(10*time.Minute - 1)
	}
}
