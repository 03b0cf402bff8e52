package registry

import (
	"context"
	"fmt"
	"time"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
	"surehook/internal/rule/circuit"
)

// circuitTries bounds how often a change of a circuit that lost a race is made
// again. Every lost race is the progress of a function that makes attempts.
const circuitTries = 20

// EndpointStatus is an endpoint and how it stands with the gate.
type EndpointStatus struct {
	Endpoint hook.Endpoint
	Gate     gate.Record // ThrottledUntil is zero when that time is over
	InFlight int         // attempts under way; only of an endpoint with MaxInFlight
}

// NextProbe returns when the next probe may pass: when the cooldown of an open
// circuit is over, or when the lease runs out of the probe that is under way.
// It is zero when the circuit is closed.
func (s EndpointStatus) NextProbe() time.Time {
	switch s.Gate.State {
	case circuit.Open:
		return s.Gate.ProbeAt
	case circuit.HalfOpen:
		return s.Gate.LeaseUntil
	case circuit.Closed:
		return time.Time{}
	}
	return time.Time{}
}

// EndpointStatus returns the tenant's endpoint that ref names, as Endpoint does, and
// how it stands with the gate.
func (r *Registry) EndpointStatus(ctx context.Context, tenant hook.TenantID, ref string) (EndpointStatus, error) {
	e, err := r.Endpoint(ctx, tenant, ref)
	if err != nil {
		return EndpointStatus{}, err
	}
	record, err := r.circuit(ctx, e)
	if err != nil {
		return EndpointStatus{}, err
	}
	return r.standing(ctx, e, record)
}

// ResetCircuit closes the endpoint's circuit, whatever it was, and begins to
// release what is parked. An attempt that is under way no longer counts for it.
// A time until which the endpoint asked to be left alone stays.
func (r *Registry) ResetCircuit(ctx context.Context, tenant hook.TenantID, ref string) (EndpointStatus, error) {
	e, err := r.Endpoint(ctx, tenant, ref)
	if err != nil {
		return EndpointStatus{}, err
	}
	record, err := r.move(ctx, e, gate.Record.Reset)
	if err != nil {
		return EndpointStatus{}, err
	}
	if record.Waiting {
		if err := r.ask(ctx, record, 0); err != nil {
			return EndpointStatus{}, err
		}
	}
	return r.standing(ctx, e, record)
}

// OpenCircuit opens the endpoint's circuit, whatever it was, for the cooldown
// it begins with; an open one begins anew. Its deliveries are parked until a
// probe comes through.
func (r *Registry) OpenCircuit(ctx context.Context, tenant hook.TenantID, ref string) (EndpointStatus, error) {
	e, err := r.Endpoint(ctx, tenant, ref)
	if err != nil {
		return EndpointStatus{}, err
	}
	settings := circuit.Settings{CircuitSettings: e.Circuit.WithDefaults()}
	record, err := r.move(ctx, e, func(record gate.Record, now time.Time) gate.Record { return record.Trip(settings, now) })
	if err != nil {
		return EndpointStatus{}, err
	}
	if err := r.ask(ctx, record, record.Cooldown); err != nil {
		return EndpointStatus{}, err
	}
	return r.standing(ctx, e, record)
}

// release has the breaker look at an endpoint that was activated or deleted, if
// deliveries wait for it. It writes that down before it asks, so that the tick
// comes soon if the message is lost.
func (r *Registry) release(ctx context.Context, e hook.Endpoint) error {
	record, err := r.move(ctx, e, func(record gate.Record, now time.Time) gate.Record {
		if !record.Waiting {
			return record
		}
		return record.Release(now)
	})
	if err != nil || !record.Waiting {
		return err
	}
	return r.ask(ctx, record, 0)
}

// move reads the endpoint's record, moves it and writes it if that changed it,
// again when another writer came between.
func (r *Registry) move(ctx context.Context, e hook.Endpoint, step func(gate.Record, time.Time) gate.Record) (gate.Record, error) {
	for range circuitTries {
		before, err := r.circuit(ctx, e)
		if err != nil {
			return gate.Record{}, err
		}
		after := step(before, r.now())
		if after == before {
			return after, nil
		}
		err = r.Circuits.SaveCircuit(ctx, after)
		if err == nil {
			after.Version++
			return after, nil
		}
		if hook.CodeOf(err) != hook.CodeConflict {
			return gate.Record{}, fmt.Errorf("write circuit of endpoint %s: %w", e.ID, err)
		}
	}
	return gate.Record{}, &hook.Error{Code: hook.CodeUnavailable, Message: "the endpoint's circuit is being changed by others; try again"}
}

func (r *Registry) circuit(ctx context.Context, e hook.Endpoint) (gate.Record, error) {
	record, err := r.Circuits.Circuit(ctx, e.Tenant, e.ID)
	if err != nil {
		return gate.Record{}, fmt.Errorf("read circuit of endpoint %s: %w", e.ID, err)
	}
	return record, nil
}

func (r *Registry) ask(ctx context.Context, record gate.Record, delay time.Duration) error {
	look := hook.CircuitCheck{Tenant: record.Tenant, Endpoint: record.Endpoint, Wave: record.Wave}
	if err := r.CircuitQueue.Enqueue(ctx, look, delay); err != nil {
		return fmt.Errorf("ask for a look at endpoint %s: %w", record.Endpoint, err)
	}
	return nil
}

func (r *Registry) standing(ctx context.Context, e hook.Endpoint, record gate.Record) (EndpointStatus, error) {
	now := r.now()
	if !now.Before(record.ThrottledUntil) {
		record.ThrottledUntil = time.Time{}
	}
	s := EndpointStatus{Endpoint: e, Gate: record}
	if e.MaxInFlight > 0 {
		limits, err := r.Circuits.Limits(ctx, e.ID)
		if err != nil {
			return EndpointStatus{}, fmt.Errorf("read limits of endpoint %s: %w", e.ID, err)
		}
		s.InFlight = limits.InFlight(now)
	}
	return s, nil
}
