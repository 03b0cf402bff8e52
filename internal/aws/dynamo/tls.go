package dynamo

import (
	"context"
	"fmt"

	"surehook.example/surehook/internal/hook"
)

// materialItem is the content of the TLS settings, in the partition of the endpoint.
type materialItem struct {
	hook.Material

	Tenant hook.TenantID `stored:"tenant"`
}

func tlsKey(id hook.EndpointID) key { return key{endpointPartition(id), tlsSort} }

// writeMaterial returns the writes of the endpoint's material: none without a change.
func (s *Store) writeMaterial(e hook.Endpoint) []write {
	m := e.TLS.Material
	if m == nil {
		return nil
	}
	if !e.TLS.On() {
		return []write{s.removal(tlsKey(e.ID), condition{})}
	}
	return []write{s.put(tlsKey(e.ID), condition{}, materialItem{*m, e.Tenant})}
}

// TLSMaterial reads one item.
func (s *Store) TLSMaterial(ctx context.Context, tenant hook.TenantID, id hook.EndpointID) (hook.Material, error) {
	it, err := read[materialItem](ctx, s, tlsKey(id), "TLS settings", string(id))
	if err != nil {
		return hook.Material{}, err
	}
	if it.Tenant != tenant {
		return hook.Material{}, fmt.Errorf("read TLS settings %s: %w", id, hook.NotFound("TLS settings"))
	}
	return it.Material, nil
}
