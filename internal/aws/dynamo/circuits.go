package dynamo

import (
	"context"
	"slices"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
)

// CircuitsOf returns the records that there are of the endpoints, in one request
// for up to 100 of them.
func (s *Store) CircuitsOf(ctx context.Context, endpoints []hook.EndpointID) (map[hook.EndpointID]gate.Record, error) {
	const op = "read circuits"
	var keys []key
	for _, id := range slices.Compact(slices.Sorted(slices.Values(endpoints))) { // a key may not repeat
		keys = append(keys, circuitKey(id))
	}
	items, err := s.batchGet(ctx, keys)
	if err != nil {
		return nil, translate(err, op)
	}
	records := make(map[hook.EndpointID]gate.Record, len(items))
	for _, item := range items {
		r, err := decode(item, fromCircuitItem)
		if err != nil {
			return nil, translate(err, op)
		}
		records[r.Endpoint] = r
	}
	return records, nil
}
