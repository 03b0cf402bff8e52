package strict_test

import (
	"fmt"
	"strings"
	"testing"
)

// row is an item of the table "t": 2 x ("pk"+1), ("sk"+1) and the value.
func row(value int) in { return in{"pk": in{"S": "a"}, "sk": in{"S": "b"}, "v": in{"S": text(value)}} }

const rowSize = 2 + 1 + 2 + 1 + 1 // bytes of a row without the value

func key(pk, sk string) in { return in{"pk": in{"S": pk}, "sk": in{"S": sk}} }

func TestFront_dynamodbItems(t *testing.T) {
	t.Parallel()

	put := func(item in) in { return in{"TableName": "t", "Item": item} }
	value := func(v in) in { return put(with(row(0), "v", v)) }
	nested := func(depth int) in {
		v := in{"S": "x"}
		for range depth {
			v = in{"L": []in{v}}
		}
		return v
	}
	const invalid = "ValidationException"
	hold(t, "dynamodb", []rule{
		{name: "the largest item", operation: "PutItem", input: put(row(400<<10 - rowSize))},
		{name: "a larger item", operation: "PutItem", input: put(row(400<<10 - rowSize + 1)), want: invalid},
		{name: "an item without its sort key", operation: "PutItem", input: put(in{"pk": in{"S": "a"}}), want: invalid},
		{name: "a key of another type", operation: "PutItem", input: put(with(row(0), "sk", in{"N": "1"})), want: invalid},
		{name: "an empty key", operation: "PutItem", input: put(with(row(0), "sk", in{"S": ""})), want: invalid},
		{name: "an empty key of an index", operation: "PutItem", input: put(with(row(0), "state", in{"S": ""})), want: invalid},
		{name: "a key of an index", operation: "PutItem", input: put(with(row(0), "state", in{"S": "dead"}))},
		{name: "a value of two types", operation: "PutItem", input: value(in{"S": "x", "N": "1"}), want: invalid},
		{name: "a value without a type", operation: "PutItem", input: value(in{}), want: invalid},
		{name: "a number of 38 digits", operation: "PutItem", input: value(in{"N": strings.Repeat("9", 38)})},
		{name: "a number of 39 digits", operation: "PutItem", input: value(in{"N": strings.Repeat("9", 39)}), want: invalid},
		{name: "a number that is none", operation: "PutItem", input: value(in{"N": "1x"}), want: invalid},
		{name: "an empty set", operation: "PutItem", input: value(in{"SS": []string{}}), want: invalid},
		{name: "a set with one value twice", operation: "PutItem", input: value(in{"SS": []string{"a", "a"}}), want: invalid},
		{name: "the deepest list", operation: "PutItem", input: value(nested(32))},
		{name: "a deeper list", operation: "PutItem", input: value(nested(33)), want: invalid},
		{name: "the longest keys", operation: "GetItem", input: in{"TableName": "t", "Key": key(text(2048), text(1024))}},
		{name: "a longer partition key", operation: "GetItem", input: in{"TableName": "t", "Key": key(text(2049), "a")}, want: invalid},
		{name: "a longer sort key", operation: "GetItem", input: in{"TableName": "t", "Key": key("a", text(1025))}, want: invalid},
		{name: "a key without its sort key", operation: "GetItem", input: in{"TableName": "t", "Key": in{"pk": in{"S": "a"}}}, want: invalid},
		{name: "a key with another attribute", operation: "GetItem", input: in{"TableName": "t", "Key": row(1)}, want: invalid},
		{name: "a key of an unknown table", operation: "GetItem", input: in{"TableName": "other", "Key": in{"id": in{"S": "a"}}}},
	})
}

func TestFront_dynamodbBatches(t *testing.T) {
	t.Parallel()

	puts := func(n int) []in {
		return repeat(n, func(i int) in { return in{"PutRequest": in{"Item": key("a", fmt.Sprint(i))}} })
	}
	keys := func(n int) []in { return repeat(n, func(i int) in { return key("a", fmt.Sprint(i)) }) }
	actions := func(all ...in) in { return in{"TransactItems": all} }
	large := func(n int) in {
		return in{"TransactItems": repeat(n, func(i int) in {
			return in{"Put": in{"TableName": "t", "Item": with(row(390<<10), "sk", in{"S": fmt.Sprintf("%2d", i)})}}
		})}
	}
	putA := in{"Put": in{"TableName": "t", "Item": row(1)}}
	const invalid = "ValidationException"
	hold(t, "dynamodb", []rule{
		{name: "25 writes", operation: "BatchWriteItem", input: in{"RequestItems": in{"t": puts(25)}}},
		{name: "26 writes to two tables", operation: "BatchWriteItem", input: in{"RequestItems": in{"t": puts(25), "u": puts(1)}}, want: invalid},
		{name: "two writes of one item", operation: "BatchWriteItem", input: in{"RequestItems": in{"t": []in{{"PutRequest": in{"Item": row(1)}}, {"DeleteRequest": in{"Key": key("a", "b")}}}}}, want: invalid},
		{name: "a write that is neither", operation: "BatchWriteItem", input: in{"RequestItems": in{"t": []in{{}}}}, want: invalid},
		{name: "a written item that is too large", operation: "BatchWriteItem", input: in{"RequestItems": in{"t": []in{{"PutRequest": in{"Item": row(400 << 10)}}}}}, want: invalid},
		{name: "100 reads", operation: "BatchGetItem", input: in{"RequestItems": in{"t": in{"Keys": keys(100)}}}},
		{name: "101 reads of two tables", operation: "BatchGetItem", input: in{"RequestItems": in{"t": in{"Keys": keys(100)}, "u": in{"Keys": keys(1)}}}, want: invalid},
		{name: "two reads of one item", operation: "BatchGetItem", input: in{"RequestItems": in{"t": in{"Keys": []in{key("a", "b"), key("a", "b")}}}}, want: invalid},
		{name: "two actions on two items", operation: "TransactWriteItems", input: actions(putA, in{"Delete": in{"TableName": "t", "Key": key("a", "c")}})},
		{name: "two actions on one item", operation: "TransactWriteItems", input: actions(putA, in{"Delete": in{"TableName": "t", "Key": key("a", "b")}}), want: invalid},
		{name: "a check and a write of one item", operation: "TransactWriteItems", input: actions(putA, in{"ConditionCheck": in{"TableName": "t", "Key": key("a", "b"), "ConditionExpression": "attribute_exists(pk)"}}), want: invalid},
		{name: "an action of two kinds", operation: "TransactWriteItems", input: actions(in{"Put": in{"TableName": "t", "Item": row(1)}, "Delete": in{"TableName": "t", "Key": key("a", "c")}}), want: invalid},
		{name: "the largest transaction", operation: "TransactWriteItems", input: large(10)},
		{name: "a larger transaction", operation: "TransactWriteItems", input: large(11), want: invalid},
		{name: "the longest token", operation: "TransactWriteItems", input: with(actions(putA), "ClientRequestToken", text(36))},
		{name: "a longer token", operation: "TransactWriteItems", input: with(actions(putA), "ClientRequestToken", text(37)), want: invalid},
	})
}

func TestFront_dynamodbExpressions(t *testing.T) {
	t.Parallel()

	query := in{
		"TableName": "t", "KeyConditionExpression": "pk = :pk AND begins_with(sk, :sk)",
		"ExpressionAttributeValues": in{":pk": in{"S": "a"}, ":sk": in{"S": "b"}},
	}
	update := func(expression string) in {
		return in{"TableName": "t", "Key": key("a", "b"), "UpdateExpression": expression, "ExpressionAttributeNames": in{"#n": "name"}, "ExpressionAttributeValues": in{":v": in{"S": "x"}}}
	}
	const invalid = "ValidationException"
	hold(t, "dynamodb", []rule{
		{name: "a query", operation: "Query", input: query},
		{name: "a consistent query", operation: "Query", input: with(query, "ConsistentRead", true)},
		{name: "a consistent query of an index", operation: "Query", input: with(with(query, "ConsistentRead", true), "IndexName", "by_state"), want: invalid},
		{name: "an index that the table has not", operation: "Query", input: with(query, "IndexName", "by_time"), want: invalid},
		{name: "a value that is not defined", operation: "Query", input: with(query, "FilterExpression", "x = :x"), want: invalid},
		{name: "a value that is not used", operation: "Query", input: with(query, "KeyConditionExpression", "pk = :pk"), want: invalid},
		{name: "values without an expression", operation: "Query", input: with(query, "KeyConditionExpression", nil), want: invalid},
		{name: "a name that is not defined", operation: "Query", input: with(query, "ProjectionExpression", "#x"), want: invalid},
		{name: "an empty expression", operation: "Query", input: with(query, "FilterExpression", ""), want: invalid},
		{name: "a reserved word", operation: "Query", input: with(query, "ProjectionExpression", "pk, Status"), want: invalid},
		{name: "a part of a reserved word", operation: "Query", input: with(query, "ProjectionExpression", "pk, status_code")},
		{name: "a reserved word with a placeholder", operation: "UpdateItem", input: update("SET #n = :v")},
		{name: "a placeholder that is not used", operation: "UpdateItem", input: update("SET x = :v"), want: invalid},
		{name: "the longest expression", operation: "UpdateItem", input: update("SET #n = :v, " + text(4096-18) + "=:v  ")},
		{name: "a longer expression", operation: "UpdateItem", input: update("SET #n = :v, " + text(4096-18) + "=:v   "), want: invalid},
	})
}
