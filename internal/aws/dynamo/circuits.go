package dynamo

import (
	"context"
	"slices"

	"surehook.example/surehook/internal/delivery/gate"
	"surehook.example/surehook/internal/hook"
)

// CircuitsOf makes one batch read per 100 endpoints.
func (s *Store) CircuitsOf(ctx context.Context, endpoints []hook.EndpointID) (map[hook.EndpointID]gate.Record, error) {
	var keys []key
	for _, id := range slices.Compact(slices.Sorted(slices.Values(endpoints))) { // BatchGetItem rejects a repeated key
		keys = append(keys, circuitKey(id))
	}
	items, err := s.batchGet(ctx, keys)
	if err != nil {
		return nil, translate(err, "read circuits")
	}
	records := make(map[hook.EndpointID]gate.Record, len(items))
	for _, r := range readable(ctx, s, items, fromCircuitItem) {
		records[r.Endpoint] = r
	}
	return records, nil
}
