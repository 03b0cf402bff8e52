package gate

import (
	"context"
	"fmt"
	"time"

	"surehook.example/surehook/internal/conflict"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/isolation"
)

// markWaiting records that deliveries wait for the endpoint. It writes before the first
// delivery is parked, so that the breaker misses none.
//
// If the deliveries wait for the end of a throttle, it also enqueues a circuit check for that
// time. If that check is lost, the breaker's tick releases the deliveries.
func (g *Gate) markWaiting(ctx context.Context, r Record, now time.Time) error {
	return g.markWaitingUntil(ctx, r, r.ThrottledUntil, now)
}

// markWaitingUntil is markWaiting for deliveries that can be sent from the given time, if that is known.
func (g *Gate) markWaitingUntil(ctx context.Context, r Record, until, now time.Time) error {
	next := r.Wait(now)
	if next == r {
		return nil
	}
	if err := g.saveCircuit(ctx, next); err != nil {
		return err
	}
	if wait := until.Sub(now); wait > 0 && r.State == circuit.Closed {
		return g.enqueueCheck(ctx, next, wait)
	}
	return nil
}

// circuitOf returns a function that reads the endpoint's circuit record.
func (g *Gate) circuitOf(ctx context.Context, tenant hook.TenantID, id hook.EndpointID) func() (Record, error) {
	return func() (Record, error) {
		record, err := g.Store.Circuit(ctx, tenant, id)
		if err != nil {
			return record, fmt.Errorf("read circuit of %s: %w", id, err)
		}
		return record, nil
	}
}

func (g *Gate) saveCircuit(ctx context.Context, r Record) error {
	if err := g.Store.SaveCircuit(ctx, r); err != nil {
		return fmt.Errorf("save circuit of %s: %w", r.Endpoint, err)
	}
	return nil
}

func (g *Gate) enqueueCheck(ctx context.Context, r Record, delay time.Duration) error {
	check := hook.CircuitCheck{Tenant: r.Tenant, Endpoint: r.Endpoint, Wave: r.Wave}
	if err := g.CircuitQueue.Enqueue(ctx, check, delay); err != nil {
		return fmt.Errorf("enqueue circuit check of %s: %w", r.Endpoint, err)
	}
	return nil
}

// updateLimits reads the endpoint's limits and writes the change, and repeats both on conflict.
// The first try uses the limits that came with the query, if any. most is the highest number of
// leases after a change that adds one; nil: no change does.
func (g *Gate) updateLimits(ctx context.Context, q *Query, most func(before isolation.Limits) int, change func(before isolation.Limits) (after isolation.Limits)) error {
	first := q.Limits
	q.Limits = nil
	return contentionOf(conflict.Update(ctx, g.Wait, maxSaveAttempts, first, func() (isolation.Limits, error) {
		limits, err := g.Store.Limits(ctx, q.ID)
		if err != nil {
			return limits, fmt.Errorf("read limits of %s: %w", q.ID, err)
		}
		return limits, nil
	}, func(before isolation.Limits) error {
		leases := 0
		if most != nil {
			leases = most(before)
		}
		if err := g.Store.ChangeLimits(ctx, q.ID, before, change(before), leases); err != nil {
			return fmt.Errorf("change limits of %s: %w", q.ID, err)
		}
		return nil
	}), q.ID)
}

// updatePlaces is updateLimits for the places of a tenant. It returns CodeConflict if every try
// met a conflict.
func (g *Gate) updatePlaces(ctx context.Context, tenant hook.TenantID, change func(before isolation.Limits) (after isolation.Limits)) error {
	return conflict.Update(ctx, g.Wait, maxSaveAttempts, nil, func() (isolation.Limits, error) {
		places, err := g.Store.Places(ctx, tenant)
		if err != nil {
			return places, fmt.Errorf("read places of tenant %s: %w", tenant, err)
		}
		return places, nil
	}, func(before isolation.Limits) error {
		if err := g.Store.ChangePlaces(ctx, tenant, before, change(before), g.Places); err != nil {
			return fmt.Errorf("change places of tenant %s: %w", tenant, err)
		}
		return nil
	})
}

// contentionOf returns err, with CodeUnavailable in place of CodeConflict: every try met
// another writer.
func contentionOf(err error, id hook.EndpointID) error {
	if err == nil || hook.CodeOf(err) != hook.CodeConflict {
		return err
	}
	return &hook.Error{Code: hook.CodeUnavailable, Message: fmt.Sprintf("too many concurrent changes of endpoint %s", id)}
}
