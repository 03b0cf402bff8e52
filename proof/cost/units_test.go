package cost_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/memory/table"
	"surehook.example/surehook/proof/cost"
)

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// sized returns an item of the given size, with the attributes of more.
func sized(bytes int, more cost.Item) cost.Item {
	item := cost.Item{"pk": text("p"), "sk": text("s"), "filler": text("")}
	for name, value := range more {
		item[name] = value
	}
	item["filler"] = text(strings.Repeat("x", bytes-table.ItemSize(item)))
	return item
}

func TestWriteUnits(t *testing.T) {
	t.Parallel()

	paid := table.Schema{Hash: "pk", Sort: "sk", Indexes: []table.Index{{Hash: "h", Sort: "r"}, {Hash: "h2", Sort: "r2"}}}
	row := func(r string) cost.Item { return cost.Item{"h": text("e"), "r": text(r)} }
	tests := []struct {
		name          string
		before, after cost.Item
		want          float64
	}{
		{name: "a kilobyte is one unit", before: nil, after: sized(1024, nil), want: 1},
		{name: "a kilobyte and a byte are two units", before: nil, after: sized(1025, nil), want: 2},
		{name: "the smallest item is one unit", before: nil, after: sized(20, nil), want: 1},
		{name: "an item that shrinks counts as the larger one", before: sized(3000, nil), after: sized(100, nil), want: 3},
		{name: "an item that grows counts as the larger one", before: sized(100, nil), after: sized(3000, nil), want: 3},
		{name: "a deletion costs as much as the deleted item", before: sized(2048, nil), after: nil, want: 2},
		{name: "deleting an absent item is one unit", before: nil, after: nil, want: 1},
		{name: "a new item with an index row", before: nil, after: sized(800, row("1")), want: 2},
		{name: "a row that stays as it is costs nothing", before: sized(800, row("1")), after: sized(900, row("1")), want: 1},
		{name: "a row whose key changes is deleted and put", before: sized(800, row("1")), after: sized(900, row("2")), want: 3},
		{name: "a new row of an old item", before: sized(800, nil), after: sized(900, row("1")), want: 2},
		{name: "a deleted row of an item that stays", before: sized(800, row("1")), after: sized(900, nil), want: 2},
		{name: "an item deleted with its row", before: sized(800, row("1")), after: nil, want: 2},
		{name: "an item with half an index key has no row", before: nil, after: sized(800, cost.Item{"h": text("e")}), want: 1},
		{name: "the row of a large item is small", before: nil, after: sized(5000, row("1")), want: 6},
		{name: "a row over a kilobyte", before: nil, after: sized(3000, row(strings.Repeat("k", 1024))), want: 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := cost.WriteUnits(cost.FootprintOf(paid, tt.before), cost.FootprintOf(paid, tt.after)); got != tt.want {
				t.Errorf("WriteUnits() = %g; want %g", got, tt.want)
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
		{name: "an absent item costs one unit", bytes: 0, consistent: true, want: 1},
		{name: "four kilobytes", bytes: 4096, consistent: true, want: 1},
		{name: "four kilobytes and a byte", bytes: 4097, consistent: true, want: 2},
		{name: "an eventually consistent read of an absent item", bytes: 0, consistent: false, want: 0.5},
		{name: "an eventually consistent read costs half", bytes: 4097, consistent: false, want: 1},
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
		{name: "a million writes", usage: cost.Usage{cost.WriteUnit: 1e6}, want: 0.625},
		{name: "a million reads", usage: cost.Usage{cost.ReadUnit: 1e6}, want: 0.125},
		{name: "a million fair sends", usage: cost.QueueUsage(64<<10, true).Times(1e6), want: 0.50},
		{name: "a message of 64 KB and a byte is two", usage: cost.QueueUsage(64<<10+1, false).Times(1e6), want: 0.80},
		{name: "a GB of log", usage: cost.Usage{cost.LogByte: 1 << 30}, want: 0.50},
		{name: "everything adds up", usage: cost.Usage{cost.APIRequest: 1e6}.Plus(cost.Usage{cost.Invocation: 1e6, cost.Schedule: 1e6}), want: 2.20},
		{name: "a line counts 26 bytes more, and no newline", usage: cost.LogUsage("{}\n").Times((1 << 30) / 28.), want: 0.50},
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

// Storage counts 100 bytes more for an item, and for each of its index rows.
func TestStored(t *testing.T) {
	t.Parallel()

	paid := table.Schema{Hash: "pk", Sort: "sk", Indexes: []table.Index{{Hash: "h", Sort: "r"}, {Hash: "h2", Sort: "sk"}}}
	item := cost.Item{"pk": text("p"), "sk": text("s"), "h": text("h"), "r": text("r"), "data": text("0123456789")}
	if all, alone := cost.FootprintOf(paid, item).Stored(); alone != 3+3+2+2+14+100 || all != alone+3+3+2+2+100 {
		t.Errorf("Stored() = %d, %d in the table; want 234, 124", all, alone)
	}
	if all, alone := cost.FootprintOf(paid, nil).Stored(); all != 0 || alone != 0 {
		t.Errorf("Stored(nothing) = %d, %d; want nothing", all, alone)
	}
}

// A handshake takes 1 ms of a whole processor. A function with 160 MB has about an eleventh of one.
func TestHandshakeTime(t *testing.T) {
	t.Parallel()

	if got := cost.HandshakeTime(2, cost.MemoryMB).Round(time.Millisecond); got != 22*time.Millisecond {
		t.Errorf("two handshakes take %v; want 22 ms", got)
	}
}

// TestConstants finds changes of the constants that package cost repeats from other packages.
func TestConstants(t *testing.T) {
	t.Parallel()

	for file, wants := range map[string][]string{
		"internal/delivery/egress/client.go": {"idleTimeout        = 4 * time.Second"},
		"functions/internal/lambdafn/sdk.go": {"idleTimeout = 20 * time.Second"},
		"infra/surehook/environments.go":     {"staging.Retention, staging.LogDays = \"staging\", 90*day"},
		"infra/surehook/validate.go":         {"initialReadUnits  = 12_000", "initialWriteUnits = 4_000"},
	} {
		source, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(source), want) {
				t.Errorf("%s does not contain %q: change the constants of package cost, too", file, want)
			}
		}
	}
}
