package gate

import (
	"context"

	"surehook.example/surehook/internal/conflict"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/isolation"
)

// Late counts n late attempts of a fast endpoint, which may still be in flight. With MaxLate of
// them in one minute the endpoint becomes slow.
func (g *Gate) Late(ctx context.Context, tenant hook.TenantID, id hook.EndpointID, n int) error {
	var late isolation.Limits
	err := g.updateLimits(ctx, &Query{ID: id}, nil, func(before isolation.Limits) isolation.Limits {
		late = before.CountLate(n, g.Now())
		return late
	})
	if err != nil || late.Late < isolation.MaxLate {
		return err
	}
	return contentionOf(conflict.Update(ctx, g.Wait, maxSaveAttempts, nil, g.circuitOf(ctx, tenant, id), func(record Record) error {
		if record.Speed != isolation.Fast {
			return nil
		}
		return g.saveCircuit(ctx, record.withClass(isolation.Slow, g.Now()))
	}), id)
}
