package table_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/memory/table"
)

func subject() item {
	return with(key("p", "s"), item{
		"n": number("5"), "text": str("héllo"), "bin": binary("abc"), "yes": flag(true),
		"tags": texts("a", "b"), "odd": numbers("1", "3"), "blank": str(""),
		"l": list(number("1"), str("x"), list(str("deep"))), "m": dict(item{"in": dict(item{"k": number("7")}), "e": str("")}),
		"bare": dict(item{}), "count": number("1"), "dotted.name": number("9"),
	})
}

func given() (item, map[string]string) {
	return item{
		":1": number("1"), ":5": number("5"), ":7": number("7"), ":9": number("9"), ":x": str("x"), ":h": str("h"), ":hello": str("héllo"),
		":b": binary("ab"), ":true": flag(true), ":false": flag(false), ":a": str("a"), ":ba": texts("b", "a"), ":31": numbers("3", "1"),
		":none": str(""), ":l": list(number("1"), str("x"), list(str("deep"))), ":deep": list(str("deep")), ":m": dict(item{"k": number("7")}),
	}, map[string]string{"#count": "count", "#d": "dotted.name", "#text": "text", "#in": "in", "#l": "l"}
}

// try reports whether a put with the condition is made.
func try(t *testing.T, tb *table.Table, condition string) (bool, error) {
	t.Helper()

	values, names := given()
	values, names = used(values, names, condition)
	_, err := tb.PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: name(), Item: subject(), ConditionExpression: &condition, ExpressionAttributeValues: values, ExpressionAttributeNames: names,
	})
	if failed := new(types.ConditionalCheckFailedException); errors.As(err, &failed) {
		return false, nil
	}
	return err == nil, err
}

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html
func TestCondition(t *testing.T) {
	t.Parallel()

	tests := map[string]bool{
		// comparisons
		"n = :5": true, "n < :7": true, "n <= :5": true, ":5 = n": true, ":1 < :7": true,
		"#text = :hello": true, "n < m.#in.k": true, "m.#in.k < n": false,
		"blank = :none": true, "#d = :9": true, "#count = :1": true,
		// types that differ are unequal, and in no order
		"n = :x": false, "n < :x": false,
		// missing attributes
		"gone = :1": false, "gone < :1": false, "NOT gone = :1": true,
		"gone < m.gone": false, "begins_with(gone, :h)": false, "contains(gone, :h)": false, "size(gone) < :9": false,
		// precedence: NOT before AND before OR
		"n = :1 AND n = :1 OR n = :5": true, "n = :5 OR n = :1 AND n = :1": true, "(n = :5 OR n = :1) AND n = :1": false,
		"NOT n = :5 AND n = :1": false, "NOT (n = :5 AND n = :1)": true, "NOT n = :1 OR n = :5": true, "NOT n = :5 OR n = :5": true,
		"NOT attribute_exists(gone) AND attribute_exists(n)": true, "not n = :1 and n = :5 or n = :1": true, "NOT (NOT n = :5)": true,
		// functions
		"attribute_exists(n)": true, "attribute_exists(m.#in.k)": true, "attribute_exists(m.gone.k)": false,
		"attribute_exists(n.k)": false, "attribute_exists(l.k)": false, "attribute_not_exists(gone)": true,
		"attribute_not_exists(n)": false, "attribute_exists(#d)": true,
		"begins_with(#text, :h)": true, "begins_with(#text, :x)": false, "begins_with(bin, :a)": false, "begins_with(tags, :a)": false, "begins_with(#text, :none)": true, "begins_with(n, :h)": false,
		"contains(#text, :h)": true, "contains(bin, :a)": false, "contains(tags, :a)": true, "contains(tags, :h)": false, "contains(odd, :x)": false,
		"contains(l, :x)": true, "contains(l, :h)": false, "contains(n, :x)": false, "contains(m, :x)": false,
		"size(#text) = :5": true, "size(l) < :5": true, "size(bare) < :1": true,
		"size(n) = :1": false, "size(yes) = :1": false, ":5 = size(#text)": true,
		// paths
		"m.#in.k = :7": true, "m.e = :none": true, " n=:5 ": true,
	}
	for condition, want := range tests {
		t.Run(condition, func(t *testing.T) {
			t.Parallel()

			tb := table.New(schema())
			mustPut(t, tb, subject())
			if got, err := try(t, tb, condition); err != nil || got != want {
				t.Errorf("condition = %v, %v; want %v", got, err, want)
			}
		})
	}
}

func TestCondition_Refused(t *testing.T) {
	t.Parallel()

	tests := map[string]string{
		"": "can not be empty", " ": "<EOF>", "n": "<EOF>", "n =": "<EOF>", "n = :5 AND": "<EOF>", "n == :5": `"="`, "n = :5 :5": `":5"`, "n ! :5": `"!"`, "(n = :5": "<EOF>",
		"n = :5)": `")"`, "n , :5": `","`, "n . :5": `":5"`, "l[0] = :5": `"["`, "n - :5 = :5": `"-"`, "n = 5": `"5"`, "# = :5": `"#"`, "n = :": `":"`,
		"size(n)": "<EOF>", "size(:5) = :5": `":5"`, "attribute_exists(:5)": `":5"`, "begins_with(:x, :x)": `":x"`, "begins_with(n)": `")"`, "contains(n, :5, :5)": `","`,
		"attribute_type(n, :x)": `"("`, "SIZE(n) = :5": "reserved", "Attribute_Exists(n)": `"("`, "if_not_exists(n, :5) = :5": `"("`, "n = :5 XOR n = :5": `"XOR"`,
		"count = :1": "reserved keyword: count", "m.name = :1": "reserved keyword: name", "state = :1": "reserved", "ttl = :1": "reserved", "data = :1": "reserved", "n between :7 and :1": `"between"`,
		"n < :true": "operand type: BOOL", "n <= :ba": "operand type: SS", ":m < n": "operand type: M", "n <> :5": `">"`, "n > :5": `">"`, "n >= :5": `">"`,
		"begins_with(#text, :1)": "operand type: N", "contains(n, n)": `"n"`, "n = n": `"="`, "gone = lost": `"="`, "m.x < m.x": `"<"`, "size(l) < size(m)": `"<"`,
		"yes = :true": "operand type: BOOL", ":false = yes": "operand type: BOOL", "bin = :b": "operand type: B", "l = :l": "operand type: L", "m.#in = :m": "operand type: M",
		"tags = :ba": "operand type: SS", "odd = :31": "operand type: NS", "begins_with(bin, :b)": "operand type: B", "contains(odd, :5)": "operand type: N", "contains(l, :deep)": "operand type: L",
		"((n = :5))": "redundant", "NOT ((n = :5 AND n = :5))": "redundant", "n IN (:1)": `"IN"`, "n = :undefined": ":undefined", "#undefined = :5": "#undefined",
		strings.Repeat("n = :5 AND ", 150) + "n = :5": "too many operators; operator count: 301",
		"n = :5" + strings.Repeat(" ", 4091):          "Expression size", "n = :" + strings.Repeat("x", 255): "too long",
	}
	for condition, want := range tests {
		t.Run(condition[:min(len(condition), 30)], func(t *testing.T) {
			t.Parallel()

			tb := table.New(schema())
			mustPut(t, tb, subject())
			if len(condition) == 260 {
				_, err := tb.PutItem(t.Context(), &dynamodb.PutItemInput{
					TableName: name(), Item: subject(), ConditionExpression: &condition, ExpressionAttributeValues: item{condition[4:]: number("1")},
				})
				refused(t, err, want)
				return
			}
			_, err := try(t, tb, condition)
			refused(t, err, want)
		})
	}
}

func TestCondition_AtItsLimits(t *testing.T) {
	t.Parallel()

	for _, condition := range []string{
		"n = :5" + strings.Repeat(" ", 4090), strings.Repeat("n = :5 AND ", 149) + "NOT n = :1",
		"(n = :5) AND (n = :5)", "((n = :5) OR (n = :1))", "(n = :5 AND (n = :5))",
	} {
		tb := table.New(schema())
		mustPut(t, tb, subject())
		if got, err := try(t, tb, condition); !got {
			t.Errorf("condition %.40q = false, %v; want true", condition, err)
		}
	}
}

func TestNamesAndValues_AreAllUsed(t *testing.T) {
	t.Parallel()

	tests := []struct {
		in   dynamodb.PutItemInput
		want string
	}{
		{dynamodb.PutItemInput{ConditionExpression: aws.String("a = :a"), ExpressionAttributeValues: item{":a": str("x"), ":b": str("x")}}, "unused"},
		{dynamodb.PutItemInput{ConditionExpression: aws.String("attribute_exists(a)"), ExpressionAttributeNames: map[string]string{"#a": "a"}}, "unused"},
		{dynamodb.PutItemInput{ExpressionAttributeNames: map[string]string{"#a": "a"}}, "unused"},
		{dynamodb.PutItemInput{ConditionExpression: aws.String("attribute_exists(a)"), ExpressionAttributeNames: map[string]string{}}, "must not be empty"},
		{dynamodb.PutItemInput{ConditionExpression: aws.String("attribute_exists(a)"), ExpressionAttributeValues: item{}}, "must not be empty"},
		{dynamodb.PutItemInput{ConditionExpression: aws.String("a = :a"), ExpressionAttributeValues: item{":a": number("x")}}, "value :a"},
		{dynamodb.PutItemInput{ConditionExpression: aws.String("a = :a"), ExpressionAttributeValues: item{":a": texts()}}, "value :a"},
		{dynamodb.PutItemInput{ConditionExpression: aws.String("a = :a"), ExpressionAttributeValues: item{":a": nil}}, "value :a"},
	}
	for _, tt := range tests {
		tt.in.TableName, tt.in.Item = name(), key("p", "s")
		_, err := table.New(schema()).PutItem(t.Context(), &tt.in)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("PutItem() error = %v; want %q", err, tt.want)
		}
	}
}
