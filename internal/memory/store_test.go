package memory_test

import (
	"testing"

	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/proof/porttest"
)

// TestStore runs the suite of the store over a table in this process.
func TestStore(t *testing.T) {
	t.Parallel()

	t.Run("table", func(t *testing.T) { // the name in the list of deviations
		t.Parallel()

		porttest.Store(t, func(*testing.T) porttest.StoreUnderTest { return memory.NewStore() })
	})
}
