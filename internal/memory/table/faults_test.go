package table_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/memory/table"
)

var errLost = errors.New("lost")

func TestAround_ErrorBeforeAndLostAnswer(t *testing.T) {
	t.Parallel()

	for _, after := range []bool{false, true} {
		tb := table.New(schema())
		mustPut(t, tb, key("p", "b"))
		tb.Around = func(_ context.Context, _ *table.Call, do func() error) error {
			if after {
				_ = do()
			}
			return errLost
		}
		part := add("t")
		out, err := tb.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
			TableName: name(), Key: key("p", "u"), UpdateExpression: part.Update.UpdateExpression, ExpressionAttributeValues: part.Update.ExpressionAttributeValues, ReturnValues: types.ReturnValueAllNew,
		})
		_, err2 := tb.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: name(), Item: key("p", "i")})
		batch, err3 := tb.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"surehook": {{DeleteRequest: &types.DeleteRequest{Key: key("p", "b")}}}}})
		err4 := transact(t.Context(), tb, part)
		read, err5 := tb.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: name(), Key: key("p", "u")})
		if out != nil || batch != nil || read != nil {
			t.Errorf("answers = %v, %v, %v; want none", out, batch, read)
		}
		for _, err := range []error{err, err2, err3, err4, err5} {
			if !errors.Is(err, errLost) {
				t.Errorf("error = %v; want errLost", err)
			}
		}
		tb.Around = nil
		if it := get(t, tb, key("p", "b")); (it == nil) != after {
			t.Errorf("answer lost %v: the deleted item = %v", after, it)
		}
		for _, sort := range []string{"u", "i", "t"} {
			if it := get(t, tb, key("p", sort)); (it != nil) != after {
				t.Errorf("answer lost %v: item %s = %v", after, sort, it)
			}
		}
	}
}

func TestAround_RepeatsARequest(t *testing.T) {
	t.Parallel()

	tb := table.New(schema())
	var seen []string
	tb.Around = func(_ context.Context, c *table.Call, do func() error) error {
		seen = append(seen, c.Operation)
		if err := do(); err != nil {
			return err
		}
		return do()
	}
	part := add("t")
	if err := transact(t.Context(), tb, part); err != nil {
		t.Fatal(err)
	}
	if _, err := tb.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{ // has no token: it counts twice
		TableName: name(), Key: key("p", "u"), UpdateExpression: part.Update.UpdateExpression, ExpressionAttributeValues: part.Update.ExpressionAttributeValues,
	}); err != nil {
		t.Fatal(err)
	}
	if n, m := read(get(t, tb, key("p", "t"))), read(get(t, tb, key("p", "u"))); n != "[n:1]" || m != "[n:2]" {
		t.Errorf("a repeated transaction counts %s, a repeated update %s", n, m)
	}
	out, err := tb.Query(t.Context(), &dynamodb.QueryInput{TableName: name(), KeyConditionExpression: aws.String("pk = :p"), ExpressionAttributeValues: item{":p": str("p")}})
	if err != nil || out.Count != 2 {
		t.Errorf("a repeated query = %+v, %v", out, err)
	}
	if want := []string{"TransactWriteItems", "UpdateItem", "GetItem", "GetItem", "Query"}; !slices.Equal(seen, want) {
		t.Errorf("calls = %v; want %v", seen, want)
	}
	if _, err := tb.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: name(), Key: key("", "")}); err == nil || len(seen) != 5 {
		t.Errorf("a malformed request came to Around: %v", seen)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tb.GetItem(ctx, &dynamodb.GetItemInput{TableName: name(), Key: key("p", "t")}); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: error = %v", err)
	}
}

func TestAround_SeesTheKeys(t *testing.T) {
	t.Parallel()

	tb := table.New(schema())
	var got table.Call
	tb.Around = func(_ context.Context, c *table.Call, do func() error) error {
		if c.Input == nil {
			t.Errorf("a %s has no input", c.Operation)
		}
		got = *c
		got.Input = nil
		return do()
	}
	_ = transact(t.Context(), tb, add("b"), add("a"))
	if want := (table.Call{Operation: "TransactWriteItems", Write: true, Keys: []table.Key{{Hash: "p", Sort: "b"}, {Hash: "p", Sort: "a"}}}); !reflect.DeepEqual(got, want) {
		t.Errorf("call = %+v; want %+v", got, want)
	}
	_, _ = tb.Query(t.Context(), &dynamodb.QueryInput{TableName: name(), IndexName: aws.String("by_state"), KeyConditionExpression: aws.String("state_pk = :p AND begins_with(state_sk, :s)"), ExpressionAttributeValues: item{":p": str("open"), ":s": str("now")}})
	if want := (table.Call{Operation: "Query", Index: "by_state", Hash: "open", Low: "now"}); !reflect.DeepEqual(got, want) {
		t.Errorf("call = %+v; want %+v", got, want)
	}
}

func TestAround_LeavesPartsOfABatch(t *testing.T) {
	t.Parallel()

	tb := table.New(schema())
	for _, sort := range []string{"a", "b", "gone"} {
		mustPut(t, tb, key("p", sort))
	}
	left := map[table.Key]bool{{Hash: "p", Sort: "a"}: true}
	tb.Around = func(_ context.Context, c *table.Call, do func() error) error {
		c.Left = left
		return do()
	}
	write := []types.WriteRequest{{DeleteRequest: &types.DeleteRequest{Key: key("p", "a")}}, {DeleteRequest: &types.DeleteRequest{Key: key("p", "gone")}}}
	out, err := tb.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"surehook": write}})
	if err != nil || !reflect.DeepEqual(out.UnprocessedItems, map[string][]types.WriteRequest{"surehook": write[:1]}) {
		t.Errorf("BatchWriteItem() = %+v, %v", out, err)
	}
	keys := types.KeysAndAttributes{Keys: []item{key("p", "a"), key("p", "b"), key("p", "gone")}, ProjectionExpression: aws.String("sk")}
	read, err := tb.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"surehook": keys}})
	keys.Keys = keys.Keys[:1]
	if err != nil || !reflect.DeepEqual(read.UnprocessedKeys, map[string]types.KeysAndAttributes{"surehook": keys}) || sorts(read.Responses["surehook"]) != "b" {
		t.Errorf("BatchGetItem() = %+v, %v", read, err)
	}
	throttled := func(err error) bool { return errors.As(err, new(*types.ProvisionedThroughputExceededException)) }
	_, err = tb.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"surehook": keys}})
	_, err2 := tb.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"surehook": write[:1]}})
	if !throttled(err) || !throttled(err2) {
		t.Errorf("batches with nothing done: errors = %v, %v", err, err2)
	}
	left = nil
	if out, err := tb.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"surehook": {{DeleteRequest: &types.DeleteRequest{Key: key("p", "b")}}}}}); err != nil || len(out.UnprocessedItems) != 0 {
		t.Errorf("BatchWriteItem() = %+v, %v", out, err)
	}
	if get(t, tb, key("p", "b")) != nil {
		t.Error("a delete of a batch left the item")
	}
}
