package gate

import (
	"context"

	"surehook.example/surehook/internal/conflict"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

// Late counts n late attempts of a fast endpoint, which may still be in flight. With MaxLate of
// them in one minute the endpoint becomes slow.
func (g *Gate) Late(ctx context.Context, tenant hook.TenantID, id hook.EndpointID, n int) error {
	var late admission.Limits
	err := g.updateLimits(ctx, id, func(before admission.Limits) admission.Limits {
		late = before.CountLate(n, g.Now())
		return late
	})
	if err != nil || late.Late < admission.MaxLate {
		return err
	}
	return contentionOf(conflict.Update(ctx, g.Wait, maxSaveAttempts, nil, g.circuitOf(ctx, tenant, id), func(record admission.Record) error {
		if slowed := record.Slowed(g.Now()); slowed != record {
			return g.saveCircuit(ctx, slowed)
		}
		return nil
	}), id)
}
