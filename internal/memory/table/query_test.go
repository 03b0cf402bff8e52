package table_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/memory/table"
)

func sorts(items []item) string {
	all := make([]string, len(items))
	for i, it := range items {
		if s, ok := it["sk"].(*types.AttributeValueMemberS); ok {
			all[i] = s.Value
		}
	}
	return strings.Join(all, " ")
}

func letters(t *testing.T) *table.Table {
	t.Helper()

	tb := table.New(schema())
	for _, s := range strings.Fields("a ab abc b c ca d") {
		mustPut(t, tb, with(key("p", s), item{"long": number(fmt.Sprint(len(s))), "state_pk": str("open"), "state_sk": str("t" + s[:1])}))
	}
	mustPut(t, tb, key("o", "z"), key("q", "a"))
	return tb
}

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.KeyConditionExpressions.html
func TestQuery_KeyConditions(t *testing.T) {
	t.Parallel()

	tb := letters(t)
	tests := map[string]string{
		"pk = :p": "a ab abc b c ca d", "pk = :none": "", "pk = :p AND sk < :b": "a ab abc",
		"pk = :p AND sk > :b": "c ca d", "pk = :p AND sk BETWEEN :ab AND :b": "ab abc b", "pk = :p and begins_with(sk, :ab)": "ab abc",
		"#pk = :p AND begins_with(#sk, :none)": "", "pk = :p AND sk BETWEEN :b AND :b": "b", "pk = :p AND sk > :none": "",
	}
	for condition, want := range tests {
		for _, forward := range []bool{true, false} {
			values, names := used(item{":p": str("p"), ":ab": str("ab"), ":b": str("b"), ":none": str("none")}, map[string]string{"#pk": "pk", "#sk": "sk"}, condition)
			in := &dynamodb.QueryInput{TableName: name(), KeyConditionExpression: &condition, ExpressionAttributeValues: values, ExpressionAttributeNames: names, ScanIndexForward: &forward}
			out, err := tb.Query(t.Context(), in)
			if err != nil {
				t.Fatalf("Query(%s) error = %v", condition, err)
			}
			all := strings.Fields(want)
			if !forward {
				slices.Reverse(all)
			}
			if got := sorts(out.Items); got != strings.Join(all, " ") || out.LastEvaluatedKey != nil {
				t.Errorf("Query(%s, forward %v) = %q, last %v; want %q", condition, forward, got, out.LastEvaluatedKey, all)
			}
			for limit := 1; limit <= 8; limit++ {
				in.Limit, in.ExclusiveStartKey = aws.Int32(int32(limit)), nil
				if got := strings.Join(strings.Fields(paged(t, tb, in, limit)), " "); got != strings.Join(all, " ") {
					t.Errorf("Query(%s, forward %v) in pages of %d = %q; want %q", condition, forward, limit, got, all)
				}
			}
		}
	}
}

// paged reads all pages, and checks that each but the last is full, and that only a full
// page has a key to go on after.
func paged(t *testing.T, tb *table.Table, in *dynamodb.QueryInput, limit int) (all string) {
	t.Helper()

	for {
		out, err := tb.Query(t.Context(), in)
		if err != nil {
			t.Fatalf("Query() error = %v", err)
		}
		if full := int(out.ScannedCount) == limit; full != (out.LastEvaluatedKey != nil) {
			t.Errorf("a page of %d rows of %d has the last key %v", out.ScannedCount, limit, out.LastEvaluatedKey)
		}
		all += " " + sorts(out.Items)
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			return all
		}
	}
}

func TestQuery_FiltersAfterThePage(t *testing.T) {
	t.Parallel()

	tb := letters(t)
	in := &dynamodb.QueryInput{
		TableName: name(), KeyConditionExpression: aws.String("pk = :p"), FilterExpression: aws.String("#long = :3"), Limit: aws.Int32(2),
		ExpressionAttributeValues: item{":p": str("p"), ":3": number("3")}, ExpressionAttributeNames: map[string]string{"#long": "long"},
	}
	var pages []string
	for {
		out, err := tb.Query(t.Context(), in)
		if err != nil {
			t.Fatalf("Query() error = %v", err)
		}
		pages = append(pages, fmt.Sprintf("%d/%d %s", out.Count, out.ScannedCount, sorts(out.Items)))
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			break
		}
	}
	if want := []string{"0/2 ", "1/2 abc", "0/2 ", "0/1 "}; !slices.Equal(pages, want) {
		t.Errorf("pages = %q; want %q", pages, want)
	}
	in.Limit, in.Select = nil, types.SelectCount
	if out, err := tb.Query(t.Context(), in); err != nil || out.Items != nil || out.Count != 1 || out.ScannedCount != 7 {
		t.Errorf("a count = %+v, %v", out, err)
	}
	in.Select, in.ProjectionExpression = "", aws.String("sk, gone")
	if out, err := tb.Query(t.Context(), in); err != nil || len(out.Items) != 1 || len(out.Items[0]) != 1 {
		t.Errorf("a projection = %+v, %v", out, err)
	}
}

func TestQuery_PageOf1MB(t *testing.T) {
	t.Parallel()

	tb := table.New(schema())
	for i := range 6 {
		mustPut(t, tb, with(key("p", fmt.Sprint(i)), item{"fill": str(strings.Repeat("x", 300<<10))}))
	}
	in := &dynamodb.QueryInput{TableName: name(), KeyConditionExpression: aws.String("pk = :p"), ExpressionAttributeValues: item{":p": str("p")}}
	out, err := tb.Query(t.Context(), in)
	if err != nil || len(out.Items) != 4 || out.LastEvaluatedKey == nil { // 4 exceed 1 MB first
		t.Fatalf("Query() = %d items, last %v, %v", len(out.Items), out.LastEvaluatedKey, err)
	}
	in.FilterExpression, in.ExpressionAttributeValues = aws.String("attribute_exists(gone)"), item{":p": str("p")}
	if out, err = tb.Query(t.Context(), in); err != nil || out.ScannedCount != 4 || out.LastEvaluatedKey == nil {
		t.Errorf("filtered: Query() = %+v, %v", out, err)
	}
	scan, err := tb.Scan(t.Context(), &dynamodb.ScanInput{TableName: name()})
	if err != nil || len(scan.Items) != 4 || scan.LastEvaluatedKey == nil {
		t.Errorf("Scan() = %d items, %v", len(scan.Items), err)
	}
}

func TestQuery_Index(t *testing.T) {
	t.Parallel()

	tb := letters(t)
	in := &dynamodb.QueryInput{
		TableName: name(), IndexName: aws.String("by_state"), KeyConditionExpression: aws.String("state_pk = :o AND state_sk BETWEEN :ta AND :tc"),
		ExpressionAttributeValues: item{":o": str("open"), ":ta": str("ta"), ":tc": str("tc")},
	}
	for limit := 1; limit < 8; limit++ { // several rows share a sort key
		in.Limit = aws.Int32(int32(limit))
		if got := strings.Join(strings.Fields(paged(t, tb, in, limit)), " "); got != "a ab abc b c ca" {
			t.Errorf("pages of %d = %q", limit, got)
		}
	}
	in.Limit, in.ScanIndexForward = nil, aws.Bool(false)
	out, err := tb.Query(t.Context(), in)
	if err != nil || sorts(out.Items) != "ca c b abc ab a" {
		t.Errorf("backward = %q, %v", sorts(out.Items), err)
	}
	if len(out.Items[0]) != 4 || out.Items[0]["long"] != nil {
		t.Errorf("a row = %v; want keys alone", out.Items[0])
	}
	if _, err := changed(t, tb, key("p", "b"), "REMOVE state_sk"); err != nil { // sparse
		t.Fatal(err)
	}
	if out, _ := tb.Query(t.Context(), in); sorts(out.Items) != "ca c abc ab a" {
		t.Errorf("without a key of the index: %q", sorts(out.Items))
	}
}

func TestQuery_Refused(t *testing.T) {
	t.Parallel()

	tb := letters(t)
	index, ok := aws.String("by_state"), aws.String("pk = :p")
	start := func(more item) item { return with(key("p", "ab"), more) }
	tests := map[string]dynamodb.QueryInput{
		"has a key condition":        {},
		"missed key schema":          {KeyConditionExpression: aws.String("wrong = :p")},
		"missed key schema!":         {KeyConditionExpression: aws.String("pk = :p AND wrong < :p")},
		"<EOF>":                      {KeyConditionExpression: aws.String("pk = :p AND")},
		`"<"`:                        {KeyConditionExpression: aws.String("pk < :p")},
		`"="`:                        {KeyConditionExpression: aws.String("pk = :p AND sk = :p")},
		`"OR"`:                       {KeyConditionExpression: aws.String("pk = :p OR sk = :p")},
		`"AND"`:                      {KeyConditionExpression: aws.String("pk = :p AND sk > :p AND sk < :p")},
		"does not have the":          {KeyConditionExpression: ok, IndexName: aws.String("other")},
		"Consistent reads":           {KeyConditionExpression: aws.String("state_pk = :p"), IndexName: index, ConsistentRead: aws.Bool(true)},
		"Select":                     {KeyConditionExpression: ok, Select: types.SelectAllAttributes},
		"without a projection":       {KeyConditionExpression: ok, Select: types.SelectCount, ProjectionExpression: aws.String("sk")},
		"limit":                      {KeyConditionExpression: ok, Limit: aws.Int32(0)},
		"non-primary key":            {KeyConditionExpression: ok, FilterExpression: aws.String("sk = :p")},
		"attribute: state_sk":        {KeyConditionExpression: aws.String("state_pk = :p"), IndexName: index, FilterExpression: aws.String("contains(state_sk, :p)")},
		"does not project long":      {KeyConditionExpression: aws.String("state_pk = :p"), IndexName: index, ProjectionExpression: aws.String("sk, #long"), ExpressionAttributeNames: map[string]string{"#long": "long"}},
		"overlap":                    {KeyConditionExpression: ok, ProjectionExpression: aws.String("sk, sk")},
		`"."`:                        {KeyConditionExpression: ok, ProjectionExpression: aws.String("a.b")},
		"support QueryFilter":        {KeyConditionExpression: ok, QueryFilter: map[string]types.Condition{}},
		"support KeyConditions":      {KeyConditions: map[string]types.Condition{}},
		"support AttributesToGet":    {KeyConditionExpression: ok, AttributesToGet: []string{"a"}},
		"ConditionalOperator":        {KeyConditionExpression: ok, ConditionalOperator: types.ConditionalOperatorAnd},
		"ReturnConsumedCapacity":     {KeyConditionExpression: ok, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal},
		"starting key is invalid":    {KeyConditionExpression: ok, ExclusiveStartKey: start(item{"a": str("x")})},
		"Missing the key sk":         {KeyConditionExpression: ok, ExclusiveStartKey: item{"pk": str("p")}},
		"outside query boundaries":   {KeyConditionExpression: ok, ExclusiveStartKey: key("q", "a")},
		"outside query boundaries!":  {KeyConditionExpression: aws.String("pk = :p AND sk > :p"), ExclusiveStartKey: key("p", "a")},
		"outside query boundaries!!": {KeyConditionExpression: aws.String("pk = :p AND sk < :p"), ExclusiveStartKey: key("p", "z"), ScanIndexForward: aws.Bool(false)},
		"Missing the key state_pk":   {KeyConditionExpression: aws.String("state_pk = :p"), IndexName: index, ExclusiveStartKey: start(nil)},
	}
	for want, in := range tests {
		in.TableName = name()
		all := aws.ToString(in.KeyConditionExpression) + " " + aws.ToString(in.FilterExpression)
		if strings.Contains(all, ":p") {
			in.ExpressionAttributeValues = item{":p": str("p")}
		}
		_, err := tb.Query(t.Context(), &in)
		refused(t, err, strings.TrimRight(want, "!"))
	}
	for want, values := range map[string]item{"empty string": {":p": str("p"), ":a": str(""), ":b": str("b")}, "another type": {":p": str("p"), ":a": number("1"), ":b": str("b")}, "upper bound": {":p": str("p"), ":a": str("b"), ":b": str("a")}, "1024": {":p": str("p"), ":a": str("a"), ":b": str(strings.Repeat("x", 1025))}} {
		_, err := tb.Query(t.Context(), &dynamodb.QueryInput{TableName: name(), KeyConditionExpression: aws.String("pk = :p AND sk BETWEEN :a AND :b"), ExpressionAttributeValues: values})
		refused(t, err, want)
	}
}
