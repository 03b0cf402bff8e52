package admit

import (
	"context"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/store"
)

// Circuits are the circuit records of endpoints, by a check of the endpoint.
func Circuits(s CircuitStore, wait store.Wait) store.Table[hook.CircuitCheck, admission.Record] {
	return store.Table[hook.CircuitCheck, admission.Record]{
		Name: "the endpoint's circuit", Wait: wait,
		Read: func(ctx context.Context, of hook.CircuitCheck) (admission.Record, error) {
			return s.Circuit(ctx, of.Tenant, of.Endpoint)
		},
		Write: func(ctx context.Context, _ hook.CircuitCheck, _, next admission.Record) (admission.Record, error) {
			err := s.SaveCircuit(ctx, next)
			next.Version++
			return next, err
		},
	}
}

// updateCircuit writes the step of the circuit record as read, if it changes that. It reads the record again only
// after a conflict, so a success that changes nothing costs nothing, even if others have failed since.
func (s *Releaser) updateCircuit(ctx context.Context, read admission.Record, step func(admission.Record) admission.Record) (before, after admission.Record, err error) {
	return Circuits(s.Store, s.Wait).UpdateFrom(ctx, read, read.Check(), func(record admission.Record) (admission.Record, bool, error) {
		next := step(record)
		return next, next != record, nil
	})
}

func (s *Releaser) enqueueCheck(ctx context.Context, r admission.Record, delay time.Duration) error {
	return s.CircuitQueue.Enqueue(ctx, r.Check(), delay)
}

// limits are the limits of endpoints.
func (s *Releaser) limits() store.Table[hook.EndpointID, admission.Limits] {
	return store.Table[hook.EndpointID, admission.Limits]{
		Name: "the endpoint's limits", Wait: s.Wait, Read: s.Store.Limits,
		Write: func(ctx context.Context, id hook.EndpointID, before, next admission.Limits) (admission.Limits, error) {
			return next, s.Store.ChangeLimits(ctx, id, before, next)
		},
	}
}

// updateLimits writes the change of the endpoint's limits.
func (s *Releaser) updateLimits(ctx context.Context, id hook.EndpointID, change func(before admission.Limits) (after admission.Limits)) (admission.Limits, error) {
	_, after, err := s.limits().Update(ctx, id, func(before admission.Limits) (admission.Limits, bool, error) {
		return change(before), true, nil
	})
	return after, err
}
