package table_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"surehook.example/surehook/internal/memory/table"
	"surehook.example/surehook/internal/names"
)

type item = table.Item

func binary(s string) types.AttributeValue { return &types.AttributeValueMemberB{Value: []byte(s)} }

func flag(b bool) types.AttributeValue { return &types.AttributeValueMemberBOOL{Value: b} }

func list(all ...types.AttributeValue) types.AttributeValue {
	return &types.AttributeValueMemberL{Value: all}
}

func dict(m item) types.AttributeValue { return &types.AttributeValueMemberM{Value: m} }

func texts(all ...string) types.AttributeValue { return &types.AttributeValueMemberSS{Value: all} }

func numbers(all ...string) types.AttributeValue { return &types.AttributeValueMemberNS{Value: all} }

func key(hash, sort string) item { return item{"pk": str(hash), "sk": str(sort)} }

// with returns a copy of the item with more attributes.
func with(base, more item) item {
	all := make(item, len(base)+len(more))
	for name, v := range base {
		all[name] = v
	}
	for name, v := range more {
		all[name] = v
	}
	return all
}

func name() *string { return aws.String("surehook") }

// used returns the values and names that the expressions name, so that none is unused.
func used(values item, names map[string]string, expressions ...string) (item, map[string]string) {
	all := strings.FieldsFunc(strings.Join(expressions, " "), func(r rune) bool { return strings.ContainsRune(" ()[],.=<>+-", r) })
	var v item
	var n map[string]string
	for k := range values {
		if slices.Contains(all, k) {
			v = with(v, item{k: values[k]})
		}
	}
	for k := range names {
		if slices.Contains(all, k) {
			if n == nil {
				n = make(map[string]string)
			}
			n[k] = names[k]
		}
	}
	return v, n
}

func mustPut(t *testing.T, tb *table.Table, items ...item) {
	t.Helper()

	for _, i := range items {
		if _, err := tb.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: name(), Item: i}); err != nil {
			t.Fatalf("PutItem() error = %v", err)
		}
	}
}

func mustDelete(ctx context.Context, t *testing.T, tb *table.Table, k item) {
	t.Helper()

	in := &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{*name(): {{DeleteRequest: &types.DeleteRequest{Key: k}}}}}
	if _, err := tb.BatchWriteItem(ctx, in); err != nil {
		t.Fatalf("BatchWriteItem() error = %v", err)
	}
}

func get(t *testing.T, tb *table.Table, k item) item {
	t.Helper()

	out, err := tb.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: name(), Key: k})
	if err != nil {
		t.Fatalf("GetItem() error = %v", err)
	}
	return out.Item
}

// refused checks that the error is DynamoDB's answer to a malformed request, and has the text.
func refused(t *testing.T, err error, text string) {
	t.Helper()

	var api *smithy.GenericAPIError
	if !errors.As(err, &api) || api.Code != "ValidationException" || !strings.Contains(err.Error(), text) {
		t.Errorf("error = %v; want a ValidationException with %q", err, text)
	}
}

// read returns a value as a short text: maps and sets of Go print in a stable order.
func read(v any) string {
	switch v := v.(type) {
	case item:
		m := make(map[string]string)
		for name, e := range v {
			if name != "pk" && name != "sk" {
				m[name] = read(e)
			}
		}
		return strings.TrimPrefix(fmt.Sprint(m), "map")
	case *types.AttributeValueMemberS:
		return fmt.Sprintf("%q", v.Value)
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberB:
		return fmt.Sprintf("b%q", v.Value)
	case *types.AttributeValueMemberBOOL:
		return fmt.Sprint(v.Value)
	case *types.AttributeValueMemberSS:
		return fmt.Sprintf("%q", v.Value)
	case *types.AttributeValueMemberNS:
		return fmt.Sprint(v.Value)
	case *types.AttributeValueMemberM:
		return read(v.Value)
	case *types.AttributeValueMemberL:
		all := make([]string, len(v.Value))
		for i, e := range v.Value {
			all[i] = read(e)
		}
		return fmt.Sprint(all)
	}
	return fmt.Sprintf("%T", v)
}

// plain returns the text of a string or a number.
func plain(v types.AttributeValue) string { return strings.Trim(read(v), `"`) }

// schema is the schema of a deployment.
func schema() table.Schema {
	return table.Schema{
		Name: "surehook", Hash: names.PartitionKey, Sort: names.SortKey, TTL: names.ExpiresAt,
		Indexes: []table.Index{
			{Name: names.IndexByEndpoint, Hash: names.ByEndpointHash, Sort: names.ByEndpointRange},
			{Name: names.IndexByState, Hash: names.ByStateHash, Sort: names.ByStateRange},
		},
	}
}
