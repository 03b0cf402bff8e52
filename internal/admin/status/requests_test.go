package status_test

import (
	"context"
	"sync/atomic"
	"testing"

	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/table"
)

// TestReader_Pipeline_requests counts what the contract says of an empty stack: 400 requests for the endpoints of 25 hours, and
// the open circuits.
func TestReader_Pipeline_requests(t *testing.T) {
	t.Parallel()

	b := setup(t)
	var n atomic.Int64
	b.store.Table.Around = func(_ context.Context, _ *table.Call, do func() error) error {
		n.Add(1)
		return do()
	}
	if _, _, err := b.PipelineStatistics(t.Context(), status.PipelineQuery{}); err != nil || n.Load() != 400 {
		t.Errorf("the statistics of all tenants make %d requests, %v; want 400", n.Load(), err)
	}
	n.Store(0)
	if _, err := b.Pipeline(t.Context()); err != nil || n.Load() != 416 {
		t.Errorf("the health of all tenants makes %d requests, %v; want 416", n.Load(), err)
	}
}
