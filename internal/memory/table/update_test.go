package table_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/memory/table"
)

// operands are the values that the updates may use.
func operands() item {
	return item{
		":1": number("1"), ":2": number("2"), ":half": number("0.5"), ":max": number("9223372036854775807"), ":x": str("x"), ":y": str("y"), ":l": list(str("x"), str("y")),
		":none": list(), ":ab": texts("a", "b"), ":b": texts("b"), ":13": numbers("1", "3"), ":m": dict(item{"k": number("1")}), ":true": flag(true), ":blank": str(""),
	}
}

// changed updates the item of the key, and returns it as it is afterwards.
func changed(t *testing.T, tb *table.Table, k item, update string) (item, error) {
	t.Helper()

	values, names := used(operands(), map[string]string{"#n": "n", "#pk": "pk"}, update)
	out, err := tb.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: name(), Key: k, UpdateExpression: &update, ExpressionAttributeValues: values, ExpressionAttributeNames: names, ReturnValues: types.ReturnValueAllNew,
	})
	if err != nil {
		return nil, err
	}
	if stored := get(t, tb, k); !reflect.DeepEqual(stored, out.Attributes) {
		t.Errorf("stored %v; returned %v", stored, out.Attributes)
	}
	return out.Attributes, nil
}

// updates returns an item, and updates with the attributes that they change: "n:6" stands for a
// new value, and "-n" for a removed attribute.
func updates() (before item, tests []struct{ update, want string }) {
	before = item{"n": number("5"), "l": list(number("0"), number("1"), number("2")), "m": dict(item{"k": number("7"), "l": list(str("a"))}), "tags": texts("a", "b"), "odd": numbers("1", "3")}
	return before, []struct{ update, want string }{
		{"SET a = :x", "a:x"},
		{"set #n = :x", "n:x"},
		{"SET n = n + :1", "n:6"},
		{"SET a = n + n", "a:10"},
		{"SET a = n, n = :1", "a:5 n:1"},
		{"SET a = if_not_exists(n, :1), b = if_not_exists(gone, :1)", "a:5 b:1"},
		{"SET n = if_not_exists(gone, :1) + :1", "n:2"},
		{"SET a = if_not_exists(gone, m.k)", "a:7"},
		{"SET l = list_append(l, :l)", "l:[0 1 2 x y]"},
		{"SET l = list_append(:l, l)", "l:[x y 0 1 2]"},
		{"SET a = list_append(if_not_exists(gone, :none), :l)", "a:[x y]"},
		{"SET m.k = m.k + :1, m.z = :x", "m:[k:8 l:[a] z:x]"},
		{"SET m.l = :x REMOVE m.k", "m:[l:x]"},
		{"REMOVE m.gone", ""},
		{"REMOVE n, gone", "-n"},
		{"SET m = :m", "m:[k:1]"},
		{"SET a = :blank", `a:`},
		{"ADD n :1, cnt :1", "n:6 cnt:1"},
		{"ADD n :2", "n:7"},
		{"ADD tags :b", ""},
		{"ADD more :ab", "more:[a b]"},
		{"ADD odd :13", ""},
		{"DELETE tags :b", "tags:[a]"},
		{"DELETE tags :ab", "-tags"},
		{"DELETE odd :13", "-odd"},
		{"DELETE gone :ab", ""},
		{"DELETE tags :b ADD n :1 REMOVE l SET a = m.k", "tags:[a] n:6 -l a:7"},
	}
}

// See https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.UpdateExpressions.html.
func TestUpdate_ChangesTheNamedAttributesOnly(t *testing.T) {
	t.Parallel()

	before, tests := updates()
	for _, tt := range tests {
		t.Run(tt.update, func(t *testing.T) {
			t.Parallel()

			tb := table.New(schema())
			mustPut(t, tb, with(key("p", "s"), before))
			after, err := changed(t, tb, key("p", "s"), tt.update)
			if err != nil {
				t.Fatalf("UpdateItem() error = %v", err)
			}
			want, rest := with(key("p", "s"), before), " "+tt.want+" "
			for name, v := range after {
				if found := strings.Replace(rest, " "+name+":"+strings.ReplaceAll(read(v), `"`, "")+" ", " ", 1); found != rest {
					want[name], rest = v, found
				}
			}
			for _, w := range strings.Fields(rest) {
				if gone, ok := strings.CutPrefix(w, "-"); ok {
					delete(want, gone)
					rest = strings.Replace(rest, w, "", 1)
				}
			}
			if strings.TrimSpace(rest) != "" {
				t.Errorf("after: %s; want also %s", read(after), rest)
			}
			if !reflect.DeepEqual(after, want) {
				t.Errorf("after: %s; want %s", read(after), tt.want)
			}
		})
	}
}

func TestUpdate_CreatesAMissingItem(t *testing.T) {
	t.Parallel()

	tb := table.New(schema())
	if after, err := changed(t, tb, key("p", "new"), "SET a = :x ADD tags :b"); err != nil || !reflect.DeepEqual(after, with(key("p", "new"), item{"a": str("x"), "tags": texts("b")})) {
		t.Errorf("UpdateItem() = %v, %v; want the key with both attributes", after, err)
	}
	if _, err := tb.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: name(), Key: key("p", "bare")}); err != nil {
		t.Errorf("UpdateItem() without an expression: error = %v", err)
	}
	if bare := get(t, tb, key("p", "bare")); len(bare) != 2 {
		t.Errorf("item = %v; want its keys", bare)
	}
}

func TestUpdate_RefusesInvalidUpdates(t *testing.T) {
	t.Parallel()

	tests := map[string]string{
		"": "can not be empty", "SET": "<EOF>", "a = :x": `"a"`, "SET a :x": `":x"`, "SET a = ": "<EOF>", "SET a = :x,": "<EOF>", "SET a = :x SET b = :x": `"SET"`, "SET n = :1 REMOVE tags SET_": `"SET_"`, "SET a = :1 + :1 + :1": `"+"`, "SET a = (:1)": `"("`,
		"SET a = size(l)": `"size"`, "SET a = attribute_exists(n)": `"("`, "SET a = if_not_exists(:1, :1)": `":1"`, "SET a = if_not_exists(n)": `")"`, "SET :x = a": `":x"`, "REMOVE": "<EOF>", "REMOVE a = :x": `"="`,
		"ADD n n": `"n"`, "ADD n = :1": `"="`, "ADD m.k :1": `"m"`, "DELETE m.tags :ab": `"m"`, "PUT a = :x": `"PUT"`, "SET name = :x": "reserved",
		"ADD n :x": "operand type: S", "ADD l :l": "operand type: L", "DELETE tags :1": "operand type: N", "DELETE gone :x": "operand type: S",
		"SET a = :x, a = :y": "overlap", "SET m.k = :1 REMOVE m": "overlap", "SET n = :1 ADD #n :1": "overlap", "REMOVE m.l, m": "overlap", "SET l[0] = :x": `"["`, "SET n = n - :1": `"-"`,
		"SET pk = :x": "part of the key", "REMOVE sk": "part of the key", "ADD #pk :1": "part of the key", "SET sk.a = :x": "part of the key",
		// The following depend on the item.
		"SET n = gone": "does not exist", "SET n = n + gone": "does not exist", "SET l = list_append(gone, :l)": "does not exist", "SET a = if_not_exists(gone, lost)": "does not exist",
		"SET n = n + :x": "incorrect data type", "SET n = l + :1": "incorrect data type", "SET l = list_append(n, :l)": "incorrect data type", "SET l = list_append(l, :x)": "incorrect data type",
		"ADD tags :1": "incorrect data type", "ADD n :ab": "incorrect data type", "ADD tags :13": "incorrect data type", "DELETE n :ab": "incorrect data type", "DELETE tags :13": "incorrect data type",
		"SET gone.k = :x": "document path", "SET n.k = :x": "document path", "SET l.k = :x": "document path", "REMOVE gone.k": "document path",
		"SET n = n + :max": "adds whole numbers", "ADD n :max": "adds whole numbers", "SET n = :half + :2": "adds whole numbers",
		"SET state_pk = :1": "state_pk", "SET state_pk = :blank": "empty string", "SET endpoint_sk = :true": "endpoint_sk",
	}
	for update, want := range tests {
		t.Run(update, func(t *testing.T) {
			t.Parallel()

			tb := table.New(schema())
			before := with(key("p", "s"), item{"n": number("5"), "l": list(number("0")), "m": dict(item{"k": number("7"), "l": list(number("1"))}), "tags": texts("a")})
			mustPut(t, tb, before)
			_, err := changed(t, tb, key("p", "s"), update)
			refused(t, err, want)
			if after := get(t, tb, key("p", "s")); !reflect.DeepEqual(after, before) {
				t.Errorf("the item changed: %v", after)
			}
		})
	}
}

func TestUpdate_RefusesAMalformedUpdateBeforeTheCondition(t *testing.T) {
	t.Parallel()

	for _, update := range []string{"SET a = :x, a = :x", "SET pk = :x", "SET a = :x, b = size(a)"} {
		_, err := table.New(schema()).UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
			TableName: name(), Key: key("p", "s"), UpdateExpression: &update, ConditionExpression: aws.String("attribute_exists(pk)"), ExpressionAttributeValues: item{":x": str("x")},
		})
		refused(t, err, "")
	}
}

func TestUpdate_ShowsTheItemOfAFailedConditionOnRequest(t *testing.T) {
	t.Parallel()

	tb := table.New(schema())
	mustPut(t, tb, with(key("p", "s"), item{"a": number("1")}))
	for _, shows := range []types.ReturnValuesOnConditionCheckFailure{"", types.ReturnValuesOnConditionCheckFailureAllOld} {
		_, err := tb.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
			TableName: name(), Key: key("p", "s"), UpdateExpression: aws.String("REMOVE a"), ConditionExpression: aws.String("attribute_not_exists(a)"), ReturnValuesOnConditionCheckFailure: shows,
		})
		failed := new(types.ConditionalCheckFailedException)
		if !errors.As(err, &failed) || (failed.Item != nil) != (shows != "") {
			t.Errorf("shows %q: error = %v, item %v", shows, err, failed.Item)
		}
	}
}
