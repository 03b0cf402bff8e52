package dynamo

import (
	"context"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

// CircuitsOf makes one batch read per 100 endpoints.
func (s *Store) CircuitsOf(ctx context.Context, endpoints []hook.EndpointID) (map[hook.EndpointID]admission.Record, error) {
	items, err := s.batchGet(ctx, keysFor(endpoints, circuitKey))
	if err != nil {
		return nil, translate(err, "read circuits")
	}
	records := make(map[hook.EndpointID]admission.Record, len(items))
	for _, r := range readable(ctx, s, items, itself[admission.Record]) {
		records[r.Endpoint] = r
	}
	return records, nil
}
