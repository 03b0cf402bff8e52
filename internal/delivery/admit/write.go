package admit

import (
	"context"
	"fmt"
	"time"

	"surehook.example/surehook/internal/conflict"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

// circuitOf returns a function that reads the endpoint's circuit record.
func (s *Slots) circuitOf(ctx context.Context, tenant hook.TenantID, id hook.EndpointID) func() (admission.Record, error) {
	return func() (admission.Record, error) {
		record, err := s.Store.Circuit(ctx, tenant, id)
		if err != nil {
			return record, fmt.Errorf("read circuit of %s: %w", id, err)
		}
		return record, nil
	}
}

func (s *Slots) saveCircuit(ctx context.Context, r admission.Record) error {
	if err := s.Store.SaveCircuit(ctx, r); err != nil {
		return fmt.Errorf("save circuit of %s: %w", r.Endpoint, err)
	}
	return nil
}

func (s *Slots) enqueueCheck(ctx context.Context, r admission.Record, delay time.Duration) error {
	check := hook.CircuitCheck{Tenant: r.Tenant, Endpoint: r.Endpoint, Wave: r.Wave}
	if err := s.CircuitQueue.Enqueue(ctx, check, delay); err != nil {
		return fmt.Errorf("enqueue circuit check of %s: %w", r.Endpoint, err)
	}
	return nil
}

// limitsOf reads the endpoint's limits.
func (s *Slots) limitsOf(ctx context.Context, id hook.EndpointID) (admission.Limits, error) {
	limits, err := s.Store.Limits(ctx, id)
	if err != nil {
		return limits, fmt.Errorf("read limits of %s: %w", id, err)
	}
	return limits, nil
}

// placesOf reads the places of the tenant.
func (s *Slots) placesOf(ctx context.Context, tenant hook.TenantID) (admission.Limits, error) {
	places, err := s.Store.Places(ctx, tenant)
	if err != nil {
		return places, fmt.Errorf("read places of tenant %s: %w", tenant, err)
	}
	return places, nil
}

// updateLimits reads the endpoint's limits and writes the change, which adds no lease, and repeats
// both on conflict.
func (s *Slots) updateLimits(ctx context.Context, id hook.EndpointID, change func(before admission.Limits) (after admission.Limits)) error {
	read := func() (admission.Limits, error) { return s.limitsOf(ctx, id) }
	return contentionOf(conflict.Update(ctx, s.Wait, maxTries, nil, read, func(before admission.Limits) error {
		if err := s.Store.ChangeLimits(ctx, id, before, change(before), 0); err != nil {
			return fmt.Errorf("change limits of %s: %w", id, err)
		}
		return nil
	}), id)
}

// contentionOf returns err, with CodeUnavailable in place of CodeConflict: every try met
// another writer.
func contentionOf[ID hook.EndpointID | hook.TenantID](err error, id ID) error {
	if err == nil || hook.CodeOf(err) != hook.CodeConflict {
		return err
	}
	return &hook.Error{Code: hook.CodeUnavailable, Message: fmt.Sprintf("too many concurrent changes of %s", id)}
}
