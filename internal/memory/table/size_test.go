package table_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/memory/table"
)

func TestItemSize_FollowsThePublishedRules(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name  string
		value types.AttributeValue
		want  int // without the name, which is "a"
	}{
		{name: "text is its UTF-8 bytes", value: str("héllo"), want: 6},
		{name: "empty text is nothing", value: str(""), want: 0},
		{name: "binary is its raw bytes", value: &types.AttributeValueMemberB{Value: make([]byte, 7)}, want: 7},
		{name: "zero has no significant digit", value: number("0"), want: 1},
		{name: "one digit", value: number("7"), want: 2},
		{name: "two digits share a byte", value: number("42"), want: 2},
		{name: "three digits take two", value: number("427"), want: 3},
		{name: "trailing zeros are trimmed", value: number("4200000"), want: 2},
		{name: "leading zeros are trimmed", value: number("0.0042"), want: 2},
		{name: "zeros within are digits", value: number("100.001"), want: 4},
		{name: "a millisecond of this century", value: number("1795273016123"), want: 8},
		{name: "a negative number", value: number("-42"), want: 3},
		{name: "38 digits, the most there are", value: number(strings.Repeat("9", 38)), want: 20},
		{name: "a Boolean", value: &types.AttributeValueMemberBOOL{Value: true}, want: 1},
		{name: "an empty list", value: &types.AttributeValueMemberL{}, want: 3},
		{name: "a list of two", value: &types.AttributeValueMemberL{Value: []types.AttributeValue{str("ab"), number("1")}}, want: 3 + 1 + 2 + 1 + 2},
		{name: "an empty map", value: &types.AttributeValueMemberM{}, want: 3},
		{name: "a map has names", value: &types.AttributeValueMemberM{Value: table.Item{"key": str("ab")}}, want: 3 + 1 + 3 + 2},
		{
			name: "a map in a map", value: &types.AttributeValueMemberM{Value: table.Item{"m": &types.AttributeValueMemberM{Value: table.Item{"k": str("v")}}}},
			want: 3 + 1 + 1 + (3 + 1 + 1 + 1),
		},
		{name: "a set of numbers", value: &types.AttributeValueMemberNS{Value: []string{"1", "23"}}, want: 3 + 2*1 + 2 + 2},
		{name: "a set of texts", value: &types.AttributeValueMemberSS{Value: []string{"ab"}}, want: 3 + 1 + 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := table.ItemSize(table.Item{"a": tt.value}); got != tt.want+1 {
				t.Errorf("ItemSize() = %d; want %d", got, tt.want+1)
			}
		})
	}
}

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }
