package table_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/memory/table"
	"surehook.example/surehook/internal/names"
)

// TestCall_Admit shows the partitions that a write changes, of the table and of the indexes.
func TestCall_Admit(t *testing.T) {
	t.Parallel()

	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	item := func(state, more string) table.Item {
		return table.Item{
			names.PartitionKey: text("p"), names.SortKey: text("s"), names.ByStateHash: text(state), names.ByStateRange: text("1"), "more": text(more),
		}
	}
	of := func(hashes ...string) (all []table.Partition) {
		all = append(all, table.Partition{Hash: "p"})
		for _, hash := range hashes {
			all = append(all, table.Partition{Index: names.IndexByState, Hash: hash})
		}
		return all
	}
	hot := errors.New("hot")
	var asked []table.Partition
	tab := table.New(schema())
	tab.Around = func(_ context.Context, c *table.Call, do func() error) error {
		c.Admit = func(written []table.Partition) error {
			asked = written
			if slices.Contains(written, table.Partition{Index: names.IndexByState, Hash: "hot"}) {
				return hot
			}
			return nil
		}
		return do()
	}
	for _, tt := range []struct {
		name string
		put  table.Item
		want []table.Partition
		err  error
	}{
		{"a new row of an index", item("a", ""), of("a"), nil},
		{"the row stays", item("a", "more"), of(), nil},
		{"the row moves", item("b", ""), of("a", "b"), nil},
		{"the row would move to a hot partition", item("hot", ""), of("b", "hot"), hot},
		{"nothing moved", item("b", "more"), of(), nil},
	} {
		_, err := tab.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: name(), Item: tt.put})
		if !errors.Is(err, tt.err) || !slices.Equal(asked, tt.want) {
			t.Errorf("%s: asked for %v, and %v; want %v, and %v", tt.name, asked, err, tt.want, tt.err)
		}
	}
}
