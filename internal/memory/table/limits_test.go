package table_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/memory/table"
)

func nested(depth int) types.AttributeValue {
	v := str("x")
	for range depth - 1 {
		v = list(v)
	}
	return v
}

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
func TestItems_HaveLimits(t *testing.T) {
	t.Parallel()

	long := func(n int) types.AttributeValue { return str(strings.Repeat("x", n)) }
	tests := []struct {
		name string
		item item
		want string // empty: no error
	}{
		{"400 KB", with(key("p", "s"), item{"a": long(400<<10 - 4 - 3)}), ""},
		{"above 400 KB", with(key("p", "s"), item{"a": long(400<<10 - 4 - 2)}), "maximum allowed size"},
		{"partition key of 2048 bytes", item{"pk": long(2048), "sk": str("s")}, ""},
		{"partition key of 2049 bytes", item{"pk": long(2049), "sk": str("s")}, "2048"},
		{"sort key of 1024 bytes", item{"pk": str("p"), "sk": long(1024)}, ""},
		{"sort key of 1025 bytes", item{"pk": str("p"), "sk": long(1025)}, "1024"},
		{"empty partition key", key("", "s"), "empty string"},
		{"empty sort key", key("p", ""), "empty string"},
		{"no sort key", item{"pk": str("p")}, "Missing the key sk"},
		{"number as key", item{"pk": str("p"), "sk": number("1")}, "another type"},
		{"no item", nil, "Missing the key pk"},
		{"empty key of an index", with(key("p", "s"), item{"state_pk": str("")}), "empty string"},
		{"number as key of an index", with(key("p", "s"), item{"state_sk": number("1")}), "another type"},
		{"long key of an index", with(key("p", "s"), item{"state_sk": long(1025)}), "1024"},
		{"empty string", with(key("p", "s"), item{"a": str(""), "b": list(), "c": dict(item{}), "d": binary("")}), ""},
		{"empty name", with(key("p", "s"), item{"": str("x")}), "name"},
		{"empty set", with(key("p", "s"), item{"a": texts()}), "may not be empty"},
		{"empty set within", with(key("p", "s"), item{"a": list(dict(item{"b": numbers()}))}), "may not be empty"},
		{"set with a duplicate", with(key("p", "s"), item{"a": texts("x", "y", "x")}), "duplicates"},
		{"numbers with a duplicate", with(key("p", "s"), item{"a": numbers("1", "1")}), "duplicates"},
		{"binary set", with(key("p", "s"), item{"a": &types.AttributeValueMemberBS{Value: [][]byte{{1}}}}), "does not support"},
		{"32 levels", with(key("p", "s"), item{"a": nested(32)}), ""},
		{"33 levels", with(key("p", "s"), item{"a": nested(33)}), "Nesting"},
		{"null", with(key("p", "s"), item{"a": &types.AttributeValueMemberNULL{Value: true}}), "does not support"},
		{"no value", with(key("p", "s"), item{"a": nil}), "Supplied AttributeValue is empty"},
		{"no value within", with(key("p", "s"), item{"a": list(nil)}), "Supplied AttributeValue is empty"},
		{"unknown type", with(key("p", "s"), item{"a": &types.UnknownUnionMember{}}), "does not support"},
		{"no UTF-8", with(key("p", "s"), item{"a": str("\xff")}), "UTF-8"},
		{"no UTF-8 in a key", item{"pk": str("\xff"), "sk": str("s")}, "UTF-8"},
		{"no UTF-8 in a set", with(key("p", "s"), item{"a": texts("\xff")}), "UTF-8"},
		{"no UTF-8 in a name", with(key("p", "s"), item{"a": dict(item{"\xff": str("")})}), "UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			tb := table.New(schema())
			_, err := tb.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: name(), Item: tt.item})
			_, err2 := tb.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{Put: &types.Put{TableName: name(), Item: tt.item}}}})
			for _, err := range []error{err, err2} {
				if tt.want == "" && err != nil {
					t.Errorf("error = %v", err)
				} else if tt.want != "" {
					refused(t, err, tt.want)
				}
			}
		})
	}
}

func TestUpdate_GrowsToTheLimit(t *testing.T) {
	t.Parallel()

	tb := table.New(schema())
	mustPut(t, tb, with(key("p", "s"), item{"a": str(strings.Repeat("x", 300<<10))}))
	_, err := tb.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: name(), Key: key("p", "s"), UpdateExpression: aws.String("SET b = a"),
	})
	refused(t, err, "maximum allowed size")
}

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html#HowItWorks.DataTypes.Number
func TestNumbers(t *testing.T) {
	t.Parallel()

	tests := map[string]bool{ // taken
		"0": true, "1": true, "-15": true, "9223372036854775807": true, "-9223372036854775808": true, "1795273016123456789": true, "0.5": true, "-0.01": true, "1234.5": true, "9223372036854775808": false,
		"-0": false, "007": false, "+5": false, "1.50": false, "1e2": false, "1E-2": false, ".5": false, "12345678901234567891": false, "1" + strings.Repeat("0", 125): true, "1" + strings.Repeat("0", 126): false,
		"0." + strings.Repeat("0", 129) + "1": true, "0." + strings.Repeat("0", 130) + "1": false,
		"": false, "x": false, "1/2": false, "0x10": false, "1_000": false, "NaN": false, "Inf": false, "+Inf": false, "-Inf": false, "1e": false, " 1": false, "1 ": false, "--1": false,
	}
	for given, want := range tests {
		tb := table.New(schema())
		_, err := tb.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: name(), Item: with(key("p", "s"), item{"n": number(given)})})
		if !want {
			refused(t, err, "")
			continue
		}
		if got := get(t, tb, key("p", "s")); err != nil || plain(got["n"]) != given {
			t.Errorf("number %q is read as %v, %v; want the same", given, got["n"], err)
		}
	}
}

func TestBatches_HaveLimits(t *testing.T) {
	t.Parallel()

	tb := table.New(schema())
	read := func(n int) error {
		request := types.KeysAndAttributes{}
		for i := range n {
			request.Keys = append(request.Keys, key("p", fmt.Sprint(i)))
		}
		_, err := tb.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"surehook": request}})
		return err
	}
	write := func(n int) error {
		var all []types.WriteRequest
		for i := range n {
			all = append(all, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: key("p", fmt.Sprint(i))}})
		}
		_, err := tb.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"surehook": all}})
		return err
	}
	transact := func(n int) error {
		var all []types.TransactWriteItem
		for i := range n {
			all = append(all, types.TransactWriteItem{Put: &types.Put{TableName: name(), Item: key("p", fmt.Sprint(i))}})
		}
		_, err := tb.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: all})
		return err
	}
	fetch := func(n int) error {
		var all []types.TransactGetItem
		for i := range n {
			all = append(all, types.TransactGetItem{Get: &types.Get{TableName: name(), Key: key("p", fmt.Sprint(i))}})
		}
		_, err := tb.TransactGetItems(t.Context(), &dynamodb.TransactGetItemsInput{TransactItems: all})
		return err
	}
	for _, tt := range []struct {
		call func(int) error
		most int
	}{{read, 100}, {write, 25}, {transact, 100}, {fetch, 100}} {
		if err := tt.call(tt.most); err != nil {
			t.Errorf("%d: error = %v", tt.most, err)
		}
		refused(t, tt.call(tt.most+1), fmt.Sprint(tt.most+1))
		refused(t, tt.call(0), "0")
	}
}

// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
func TestBatchGet_LeavesWhatExceeds16MB(t *testing.T) {
	t.Parallel()

	tb := table.New(schema())
	var request types.KeysAndAttributes
	for i := range 50 {
		mustPut(t, tb, with(key("p", fmt.Sprint(i)), item{"a": str(strings.Repeat("x", 390<<10))}))
		request.Keys = append(request.Keys, key("p", fmt.Sprint(i)))
	}
	request.ConsistentRead = aws.Bool(true)
	out, err := tb.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"surehook": request}})
	if err != nil || len(out.Responses["surehook"]) != 42 || len(out.UnprocessedKeys["surehook"].Keys) != 8 || !aws.ToBool(out.UnprocessedKeys["surehook"].ConsistentRead) {
		t.Errorf("BatchGetItem() = %d items, %d left, %v", len(out.Responses["surehook"]), len(out.UnprocessedKeys["surehook"].Keys), err)
	}
}

func TestTransactions_HoldAtMost4MB(t *testing.T) {
	t.Parallel()

	tb := table.New(schema())
	var puts []types.TransactWriteItem
	var gets []types.TransactGetItem
	for i := range 11 {
		it := with(key("p", fmt.Sprint(i)), item{"a": str(strings.Repeat("x", 390<<10))})
		mustPut(t, tb, it)
		puts = append(puts, types.TransactWriteItem{Put: &types.Put{TableName: name(), Item: it}})
		gets = append(gets, types.TransactGetItem{Get: &types.Get{TableName: name(), Key: key("p", fmt.Sprint(i))}})
	}
	_, err := tb.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: puts})
	refused(t, err, "exceeded the maximum")
	_, err = tb.TransactGetItems(t.Context(), &dynamodb.TransactGetItemsInput{TransactItems: gets})
	refused(t, err, "exceeded the maximum")
}
