package table_test

import (
	"testing"

	"surehook/internal/aws/dynamo"
	"surehook/internal/names"
	"surehook/internal/proof/porttest"
	"surehook/internal/table"
)

func schema() table.Schema {
	return table.Schema{
		Name: "surehook", Hash: names.PartitionKey, Sort: names.SortKey, TTL: names.ExpiresAt,
		Indexes: []table.Index{
			{Name: names.IndexByEndpoint, Hash: names.ByEndpointHash, Sort: names.ByEndpointRange},
			{Name: names.IndexByState, Hash: names.ByStateHash, Sort: names.ByStateRange},
		},
	}
}

// TestStore runs the suite of the store over the table.
func TestStore(t *testing.T) {
	t.Parallel()

	t.Run("table", func(t *testing.T) { // the name in the list of deviations
		t.Parallel()

		porttest.Store(t, func(t *testing.T) porttest.StoreUnderTest {
			t.Helper()

			return dynamo.Over(table.New(schema()), schema().Name)
		})
	})
}
