package cost_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook/internal/proof/cost"
)

func text(s string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: s} }
func number(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

func TestItemSize_FollowsThePublishedRules(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name  string
		value types.AttributeValue
		want  int // without the name, which is "a"
	}{
		{"text is its UTF-8 bytes", text("héllo"), 6},
		{"empty text is nothing", text(""), 0},
		{"binary is its raw bytes", &types.AttributeValueMemberB{Value: make([]byte, 7)}, 7},
		{"zero has no significant digit", number("0"), 1},
		{"one digit", number("7"), 2},
		{"two digits share a byte", number("42"), 2},
		{"three digits take two", number("427"), 3},
		{"trailing zeros are trimmed", number("4200000"), 2},
		{"leading zeros are trimmed", number("0.0042"), 2},
		{"zeros within are digits", number("100.001"), 4},
		{"a millisecond of this century", number("1795273016123"), 8},
		{"a negative number", number("-42"), 3},
		{"an exponent is no digit", number("4.2E+10"), 2},
		{"38 digits, the most there are", number(strings.Repeat("9", 38)), 20},
		{"a Boolean", &types.AttributeValueMemberBOOL{Value: true}, 1},
		{"null", &types.AttributeValueMemberNULL{Value: true}, 1},
		{"an empty list", &types.AttributeValueMemberL{}, 3},
		{"a list of two", &types.AttributeValueMemberL{Value: []types.AttributeValue{text("ab"), number("1")}}, 3 + 1 + 2 + 1 + 2},
		{"an empty map", &types.AttributeValueMemberM{}, 3},
		{"a map has names", &types.AttributeValueMemberM{Value: cost.Item{"key": text("ab")}}, 3 + 1 + 3 + 2},
		{
			"a map in a map", &types.AttributeValueMemberM{Value: cost.Item{"m": &types.AttributeValueMemberM{Value: cost.Item{"k": text("v")}}}},
			3 + 1 + 1 + (3 + 1 + 1 + 1),
		},
		{"a set of numbers", &types.AttributeValueMemberNS{Value: []string{"1", "23"}}, 3 + 2*1 + 2 + 2},
		{"a set of texts", &types.AttributeValueMemberSS{Value: []string{"ab"}}, 3 + 1 + 2},
		{"a set of binaries", &types.AttributeValueMemberBS{Value: [][]byte{{1, 2, 3}}}, 3 + 1 + 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := cost.ItemSize(cost.Item{"a": tt.value}); got != tt.want+1 {
				t.Errorf("ItemSize() = %d; want %d", got, tt.want+1)
			}
		})
	}
}

// sized returns an item of so many bytes in all.
func sized(bytes int, more cost.Item) cost.Item {
	item := cost.Item{"pk": text("p"), "sk": text("s"), "filler": text("")}
	for name, value := range more {
		item[name] = value
	}
	item["filler"] = text(strings.Repeat("x", bytes-cost.ItemSize(item)))
	return item
}

func TestTable_WriteUnits(t *testing.T) {
	t.Parallel()

	table := cost.Table{Hash: "pk", Range: "sk", Indexes: []cost.Index{{Hash: "h", Range: "r"}, {Hash: "h2", Range: "r2"}}}
	row := func(r string) cost.Item { return cost.Item{"h": text("e"), "r": text(r)} }
	tests := []struct {
		name          string
		before, after cost.Item
		want          float64
	}{
		{"a kilobyte is one unit", nil, sized(1024, nil), 1},
		{"a byte more is two", nil, sized(1025, nil), 2},
		{"the smallest item is one", nil, sized(20, nil), 1},
		{"the larger counts when an item shrinks", sized(3000, nil), sized(100, nil), 3},
		{"and when it grows", sized(100, nil), sized(3000, nil), 3},
		{"deleting is as large as what is deleted", sized(2048, nil), nil, 2},
		{"deleting nothing is one", nil, nil, 1},
		{"a new item with an index row", nil, sized(800, row("1")), 2},
		{"a row that stays as it is costs nothing", sized(800, row("1")), sized(900, row("1")), 1},
		{"a row whose key changes is deleted and put", sized(800, row("1")), sized(900, row("2")), 3},
		{"a row that comes", sized(800, nil), sized(900, row("1")), 2},
		{"a row that goes", sized(800, row("1")), sized(900, nil), 2},
		{"an item deleted with its row", sized(800, row("1")), nil, 2},
		{"half a key makes no row", nil, sized(800, cost.Item{"h": text("e")}), 1},
		{"a large item has small rows", nil, sized(5000, row("1")), 6},
		{"a row over a kilobyte", nil, sized(3000, row(strings.Repeat("k", 1024))), 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := table.WriteUnits(tt.before, tt.after); got != tt.want {
				t.Errorf("WriteUnits() = %g; want %g", got, tt.want)
			}
			if got := table.TransactUnits(tt.before, tt.after); got != 2*tt.want {
				t.Errorf("TransactUnits() = %g; want %g", got, 2*tt.want)
			}
		})
	}
}

func TestReadUnits(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name       string
		bytes      int
		consistent bool
		want       float64
	}{
		{"what does not exist costs one", 0, true, 1},
		{"four kilobytes", 4096, true, 1},
		{"a byte more", 4097, true, 2},
		{"a stale read of nothing", 0, false, 0.5},
		{"a stale read costs half", 4097, false, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := cost.ReadUnits(tt.bytes, tt.consistent); got != tt.want {
				t.Errorf("ReadUnits(%d, %t) = %g; want %g", tt.bytes, tt.consistent, got, tt.want)
			}
		})
	}
}

func TestUsage_Bill(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name  string
		usage cost.Usage
		want  float64
	}{
		{"a million writes", cost.Usage{cost.WriteUnit: 1e6}, 0.625},
		{"a million reads", cost.Usage{cost.ReadUnit: 1e6}, 0.125},
		{"a million fair sends", cost.QueueUsage(64<<10, true).Times(1e6), 0.50},
		{"a message of 64 KB and a byte is two", cost.QueueUsage(64<<10+1, false).Times(1e6), 0.80},
		{"a GB of log", cost.Usage{cost.LogByte: 1 << 30}, 0.50},
		{"everything adds up", cost.Usage{cost.APIRequest: 1e6}.Plus(cost.Usage{cost.Invocation: 1e6, cost.Schedule: 1e6}), 2.20},
		{"a line counts 26 bytes more, and no newline", cost.LogUsage("{}\n").Times((1 << 30) / 28.), 0.50},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := tt.usage.Bill().Total(); got != tt.want {
				t.Errorf("Bill().Total() = %g; want %g", got, tt.want)
			}
		})
	}
}
