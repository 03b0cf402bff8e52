package table_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook/internal/table"
)

var errLost = errors.New("lost")

func TestAround_ErrorBeforeAndLostAnswer(t *testing.T) {
	t.Parallel()

	for _, after := range []bool{false, true} {
		tb := table.New(schema())
		tb.Around = func(_ context.Context, c *table.Call, do func() error) error {
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
		batch, err3 := tb.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"surehook": {{PutRequest: &types.PutRequest{Item: key("p", "b")}}}}})
		err4 := transact(tb, part)
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
		for _, sort := range []string{"u", "i", "b", "t"} {
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
	if err := transact(tb, part); err != nil {
		t.Fatal(err)
	}
	for _, sort := range []string{"u"} { // a single update has no token: it counts twice
		if _, err := tb.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: name(), Key: key("p", sort), UpdateExpression: part.Update.UpdateExpression, ExpressionAttributeValues: part.Update.ExpressionAttributeValues}); err != nil {
			t.Fatal(err)
		}
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
		got = *c
		return do()
	}
	_ = transact(tb, add("b"), add("a"))
	if want := (table.Call{Operation: "TransactWriteItems", Write: true, Keys: []table.Key{{Hash: "p", Sort: "b"}, {Hash: "p", Sort: "a"}}}); !reflect.DeepEqual(got, want) {
		t.Errorf("call = %+v; want %+v", got, want)
	}
	_, _ = tb.Query(t.Context(), &dynamodb.QueryInput{TableName: name(), IndexName: aws.String("by_state"), KeyConditionExpression: aws.String("state_pk = :p"), ExpressionAttributeValues: item{":p": str("open")}})
	if want := (table.Call{Operation: "Query", Index: "by_state", Hash: "open"}); !reflect.DeepEqual(got, want) {
		t.Errorf("call = %+v; want %+v", got, want)
	}
}

func TestAround_LeavesPartsOfABatch(t *testing.T) {
	t.Parallel()

	tb := table.New(schema())
	left := map[table.Key]bool{{Hash: "p", Sort: "a"}: true}
	tb.Around = func(_ context.Context, c *table.Call, do func() error) error {
		c.Left = left
		return do()
	}
	write := []types.WriteRequest{{PutRequest: &types.PutRequest{Item: key("p", "a")}}, {PutRequest: &types.PutRequest{Item: key("p", "b")}}}
	out, err := tb.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"surehook": write}})
	if err != nil || !reflect.DeepEqual(out.UnprocessedItems, map[string][]types.WriteRequest{"surehook": write[:1]}) {
		t.Errorf("BatchWriteItem() = %+v, %v", out, err)
	}
	keys := types.KeysAndAttributes{Keys: []item{key("p", "a"), key("p", "b"), key("p", "none")}, ProjectionExpression: aws.String("sk")}
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

// views reads one item in every way: as "get,transaction,batch,query,scan".
func views(t *testing.T, tb *table.Table, sort string) [5]string {
	t.Helper()

	ctx, k := context.WithValue(t.Context(), inside{}, true), key("p", sort)
	one, err := tb.GetItem(ctx, &dynamodb.GetItemInput{TableName: name(), Key: k})
	tx, err2 := tb.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{{Get: &types.Get{TableName: name(), Key: k}}}})
	batch, err3 := tb.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"surehook": {Keys: []item{k}}}})
	query, err4 := tb.Query(ctx, &dynamodb.QueryInput{TableName: name(), KeyConditionExpression: aws.String("pk = :p AND sk = :s"), ExpressionAttributeValues: item{":p": str("p"), ":s": str(sort)}, ScanIndexForward: aws.Bool(false)})
	scan, err5 := tb.Scan(ctx, &dynamodb.ScanInput{TableName: name(), FilterExpression: aws.String("sk = :s"), ExpressionAttributeValues: item{":s": str(sort)}})
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
			between[sort] = views(t, tb, sort)
		}
		return err
	}
	err := transact(tb, add("old"), add("new"), add("seen"), types.TransactWriteItem{Delete: &types.Delete{TableName: name(), Key: key("p", "gone")}})
	want := map[string][5]string{
		"old": {"[n:2]", "[n:2]", "[n:1]", "[n:1]", "[n:1]"}, "new": {"[n:1]", "[n:1]", "[]", "[]", "[]"},
		"gone": {"[]", "[]", "[n:1]", "[n:1]", "[n:1]"}, "seen": {"[n:1]", "[n:1]", "[n:1]", "[n:1]", "[n:1]"},
	}
	if err != nil || !reflect.DeepEqual(between, want) {
		t.Errorf("within the transaction: %v, %v; want %v", between, err, want)
	}
	tb.Around = nil
	if got := views(t, tb, "gone"); got != [5]string{"[]", "[]", "[]", "[]", "[]"} {
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
				both = views(t, tb, "a")
				return err
			}
			switch second {
			case "transaction":
				_ = transact(tb, add("a"))
			case "put":
				mustPut(t, tb, with(key("p", "a"), item{"n": number("2")}))
			case "removal":
				tb.Remove(k)
			}
			first = views(t, tb, "a")
			return err
		}
		mustPut(t, tb, with(key("p", "a"), item{"n": number("0")}))
		if err := transact(tb, add("a")); err != nil {
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

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html
func TestIndex_Lags(t *testing.T) {
	t.Parallel()

	tb := table.New(schema())
	now, lag := time.Unix(1_800_000_000, 0), time.Duration(0)
	tb.Now = func() time.Time { return now }
	tb.Around = func(_ context.Context, c *table.Call, do func() error) error {
		c.Lag = lag
		return do()
	}
	put := func(sort, state string, after time.Duration) {
		lag = after
		mustPut(t, tb, with(key("p", sort), item{"state_pk": str("open"), "state_sk": str(state)}))
	}
	states := func() (all string) {
		out, err := tb.Query(t.Context(), &dynamodb.QueryInput{TableName: name(), IndexName: aws.String("by_state"), KeyConditionExpression: aws.String("state_pk = :o"), ExpressionAttributeValues: item{":o": str("open")}})
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range out.Items {
			all += it["sk"].(*types.AttributeValueMemberS).Value + it["state_sk"].(*types.AttributeValueMemberS).Value + " "
		}
		return all
	}
	put("a", "1", time.Minute)
	put("b", "1", 0)
	if got := states(); got != "b1 " {
		t.Errorf("at once: %q", got)
	}
	put("a", "2", 0) // after its first change
	if got := states(); got != "b1 " {
		t.Errorf("a later change came before the earlier one: %q", got)
	}
	put("b", "3", time.Hour)
	now = now.Add(time.Minute)
	if got := states(); got != "b1 a2 " {
		t.Errorf("after a minute: %q", got)
	}
	put("b", "4", time.Second) // waits for the change before it
	now = now.Add(time.Second)
	if got := states(); got != "b1 a2 " {
		t.Errorf("after the lag of the last change alone: %q", got)
	}
	now = now.Add(time.Hour)
	if got := states(); got != "a2 b4 " {
		t.Errorf("after all changes: %q", got)
	}
	tb.Remove(table.Key{Hash: "p", Sort: "a"})
	if got := states(); got != "b4 " {
		t.Errorf("after the removal: %q", got)
	}
}
