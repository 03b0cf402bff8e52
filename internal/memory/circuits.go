package memory

import (
	"context"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
)

// CircuitsOf omits endpoints without a record.
func (s *Store) CircuitsOf(ctx context.Context, endpoints []hook.EndpointID) (map[hook.EndpointID]gate.Record, error) {
	if err := available(ctx, "read circuits"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	records := make(map[hook.EndpointID]gate.Record)
	for _, id := range endpoints {
		if r, ok := s.circuits[id]; ok {
			records[id] = r
		}
	}
	return records, nil
}
