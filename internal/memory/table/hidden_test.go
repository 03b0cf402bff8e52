package table_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/memory/table"
)

// views reads one item in every way: as "get,transaction,batch,query,scan".
func views(ctx context.Context, t *testing.T, tb *table.Table, sort string) [5]string {
	t.Helper()

	k := key("p", sort)
	ctx = context.WithValue(ctx, inside{}, true)
	batch, err3 := readBatch(ctx, tb, k)
	query, err4 := tb.Query(ctx, &dynamodb.QueryInput{TableName: name(), KeyConditionExpression: aws.String("pk = :p AND sk BETWEEN :s AND :s"), ExpressionAttributeValues: item{":p": str("p"), ":s": str(sort)}, ScanIndexForward: aws.Bool(false)})
	scan, err5 := tb.Scan(ctx, &dynamodb.ScanInput{TableName: name(), FilterExpression: aws.String("sk = :s"), ExpressionAttributeValues: item{":s": str(sort)}})
	one, err := tb.GetItem(ctx, &dynamodb.GetItemInput{TableName: name(), Key: k}) // ends the hiding, so it comes last
	tx, err2 := tb.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{{Get: &types.Get{TableName: name(), Key: k}}}})
	if err := errors.Join(err, err2, err3, err4, err5); err != nil {
		t.Fatal(err)
	}
	all := [5]string{read(one.Item), read(tx.Responses[0].Item)}
	for i, items := range [][]item{batch.Responses["surehook"], query.Items, scan.Items} {
		if all[i+2] = "[]"; len(items) > 0 {
			all[i+2] = read(items[0])
		}
	}
	return all
}

func readBatch(ctx context.Context, tb *table.Table, k item) (*dynamodb.BatchGetItemOutput, error) {
	return tb.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"surehook": {Keys: []item{k}}}})
}

type inside struct{}

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-isolation
func TestAround_HidesWritesOfATransaction(t *testing.T) {
	t.Parallel()

	tb := table.New(schema())
	mustPut(t, tb, with(key("p", "old"), item{"n": number("1")}), with(key("p", "gone"), item{"n": number("1")}))
	all := map[table.Key]bool{{Hash: "p", Sort: "old"}: true, {Hash: "p", Sort: "new"}: true, {Hash: "p", Sort: "gone"}: true}
	var between map[string][5]string
	tb.Around = func(ctx context.Context, c *table.Call, do func() error) error {
		if ctx.Value(inside{}) != nil {
			return do()
		}
		c.Hidden = all
		err := do()
		between = map[string][5]string{}
		for _, sort := range []string{"old", "new", "gone", "seen"} {
			between[sort] = views(ctx, t, tb, sort)
		}
		return err
	}
	err := transact(t.Context(), tb, add("old"), add("new"), add("seen"), types.TransactWriteItem{Delete: &types.Delete{TableName: name(), Key: key("p", "gone")}})
	want := map[string][5]string{
		"old": {"[n:2]", "[n:2]", "[n:1]", "[n:1]", "[n:1]"}, "new": {"[n:1]", "[n:1]", "[]", "[]", "[]"},
		"gone": {"[]", "[]", "[n:1]", "[n:1]", "[n:1]"}, "seen": {"[n:1]", "[n:1]", "[n:1]", "[n:1]", "[n:1]"},
	}
	if err != nil || !reflect.DeepEqual(between, want) {
		t.Errorf("within the transaction: %v, %v; want %v", between, err, want)
	}
	tb.Around = nil
	if got := views(t.Context(), t, tb, "gone"); got != [5]string{"[]", "[]", "[]", "[]", "[]"} {
		t.Errorf("after the transaction: %v", got)
	}
}

// A write that was answered is seen by every reader, and so are those before it.
func TestAround_AnswersEndTheHiding(t *testing.T) {
	t.Parallel()

	k := table.Key{Hash: "p", Sort: "a"}
	for _, second := range []string{"transaction", "put", "removal"} {
		tb := table.New(schema())
		var first, both [5]string
		depth := 0
		tb.Around = func(ctx context.Context, c *table.Call, do func() error) error {
			if ctx.Value(inside{}) != nil || c.Operation == "PutItem" {
				return do()
			}
			c.Hidden = map[table.Key]bool{k: true}
			err := do()
			if depth++; depth > 1 {
				both = views(ctx, t, tb, "a")
				return err
			}
			switch second {
			case "transaction":
				_ = transact(ctx, tb, add("a"))
			case "put":
				_, _ = tb.PutItem(ctx, &dynamodb.PutItemInput{TableName: name(), Item: with(key("p", "a"), item{"n": number("2")})})
			case "removal":
				mustDelete(context.WithValue(ctx, inside{}, true), t, tb, key("p", "a"))
			}
			first = views(ctx, t, tb, "a")
			return err
		}
		mustPut(t, tb, with(key("p", "a"), item{"n": number("0")}))
		if err := transact(t.Context(), tb, add("a")); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"transaction": "[n:2]", "put": "[n:2]", "removal": "[]"}[second]
		if first != [5]string{want, want, want, want, want} {
			t.Errorf("after the second write, a %s: %v; want %s", second, first, want)
		}
		if second == "transaction" && both != [5]string{"[n:2]", "[n:2]", "[n:0]", "[n:0]", "[n:0]"} {
			t.Errorf("within both transactions: %v", both)
		}
	}
}

// A write that a serializable read answered is seen by every later reader.
func TestAround_AReadEndsTheHiding(t *testing.T) {
	t.Parallel()

	k := key("p", "a")
	reads := map[string]func(ctx context.Context, tb *table.Table) error{
		"GetItem": func(ctx context.Context, tb *table.Table) error {
			_, err := tb.GetItem(ctx, &dynamodb.GetItemInput{TableName: name(), Key: k})
			return err
		},
		"TransactGetItems": func(ctx context.Context, tb *table.Table) error {
			_, err := tb.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{{Get: &types.Get{TableName: name(), Key: k}}}})
			return err
		},
	}
	for name, read := range reads {
		tb := table.New(schema())
		tb.Around = func(ctx context.Context, c *table.Call, do func() error) error {
			if ctx.Value(inside{}) != nil {
				return do()
			}
			c.Hidden = map[table.Key]bool{{Hash: "p", Sort: "a"}: true}
			err := do()
			ctx = context.WithValue(ctx, inside{}, true)
			before, err2 := readBatch(ctx, tb, k)
			err3 := read(ctx, tb)
			after, err4 := readBatch(ctx, tb, k)
			if err := errors.Join(err2, err3, err4); err != nil || len(before.Responses["surehook"]) != 0 || len(after.Responses["surehook"]) != 1 {
				t.Errorf("%s: a batch has %v before and %v after, %v; want none, and the item", name, before, after, err)
			}
			return err
		}
		if err := transact(t.Context(), tb, add("a")); err != nil {
			t.Fatal(err)
		}
	}
}
