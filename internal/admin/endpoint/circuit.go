package endpoint

import (
	"context"
	"fmt"
	"time"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/retry"
	"surehook.example/surehook/internal/rule/sign"
)

// Status is an endpoint with the state of the circuit and the attempts in flight.
type Status struct {
	Endpoint        hook.Endpoint
	Gate            admission.Record // ThrottledUntil is zero once the time has passed
	Passes          bool             // deliveries may start now
	Strained        bool             // so many attempts fail that each needs an in-flight slot
	Rate            float64          // attempts per second now, by the endpoint's own rate and its pace after a 429; 0: no limit
	InFlight        int              // attempts in flight; 0 for an endpoint without MaxInFlight
	OldSecretsUntil time.Time        // secrets of earlier rotations sign until then; zero without any
	SignedBy        sign.Signers
	Reserved        int // deliveries that wait for a reserved rate slot; 0 for an endpoint without RatePerSecond
	Width           int // in-flight slots that parked deliveries have now; 0: none are parked, or they need none
}

// CircuitState is the state of an endpoint's circuit.
type CircuitState struct {
	State          circuit.State `json:"state"`
	Strained       bool          `json:"strained"`
	Failures       int           `json:"failures"`
	OpenedAt       time.Time     `json:"opened_at,omitzero"`
	Cooldown       time.Duration `json:"cooldown,omitzero"`
	NextProbeAt    time.Time     `json:"next_probe_at,omitzero"`
	ThrottledUntil time.Time     `json:"throttled_until,omitzero"`
	Pace           float64       `json:"pace,omitzero"`
	InFlight       *int          `json:"in_flight,omitzero"` // only with MaxInFlight
	Waiting        bool          `json:"waiting"`            // deliveries are parked
}

// Circuit returns the state of the circuit. A closed one shows nothing of the last outage.
func (s *Status) Circuit() CircuitState {
	c := CircuitState{
		State: s.Gate.State, Strained: s.Strained, Failures: s.Gate.Failures, NextProbeAt: s.Gate.NextProbe(),
		ThrottledUntil: s.Gate.ThrottledUntil, Waiting: s.Gate.HasParked(),
	}
	if c.State != circuit.Closed {
		c.OpenedAt, c.Cooldown = s.Gate.OpenedAt, s.Gate.Cooldown
	}
	if s.Rate != s.Endpoint.RatePerSecond {
		c.Pace = s.Rate
	}
	if s.Endpoint.MaxInFlight > 0 {
		c.InFlight = &s.InFlight
	}
	return c
}

// Status returns the tenant's endpoint with ref as the id or the uid, with the
// state of the circuit; CodeNotFound if none exists.
func (a *Admin) Status(ctx context.Context, tenant hook.TenantID, ref string) (Status, error) {
	e, err := a.Get(ctx, tenant, ref)
	if err != nil {
		return Status{}, err
	}
	record, err := a.Store.Circuit(ctx, e.Tenant, e.ID)
	if err != nil {
		return Status{}, err
	}
	return a.StatusOf(ctx, e, record)
}

// ResetCircuit closes the endpoint's circuit from any state and releases the
// parked deliveries. Results of attempts in flight no longer count for the
// circuit, and the wait that a 429 asked for is over.
func (a *Admin) ResetCircuit(ctx context.Context, tenant hook.TenantID, ref string) (Status, error) {
	return a.operate(ctx, tenant, ref, func(_ hook.Endpoint, record admission.Record, now time.Time) (admission.Record, error) {
		return record.Suspect(now).Reset(now), nil
	})
}

// OpenCircuit opens the endpoint's circuit from any state for the configured
// first cooldown, and at least until the end of the lease of a probe in flight; an open
// circuit starts a new cooldown. Deliveries are parked
// until a probe succeeds.
func (a *Admin) OpenCircuit(ctx context.Context, tenant hook.TenantID, ref string) (Status, error) {
	return a.operate(ctx, tenant, ref, func(e hook.Endpoint, record admission.Record, now time.Time) (admission.Record, error) {
		return record.Trip(circuit.Settings{CircuitSettings: e.Circuit.WithDefaults()}, now), nil
	})
}

// ProbeNow makes the breaker send a waiting delivery at once, as the probe of the endpoint's open
// circuit; the hold of a 429 is over. The probe's lease keeps a second one away: while a probe is in
// flight ProbeNow is CodeConflict, and a repeated call before that changes nothing. It is CodeConflict,
// too, if the endpoint is not active, if its circuit is closed, or if no delivery is known to wait.
func (a *Admin) ProbeNow(ctx context.Context, tenant hook.TenantID, ref string) (Status, error) {
	return a.operate(ctx, tenant, ref, func(e hook.Endpoint, record admission.Record, now time.Time) (admission.Record, error) {
		if why := noProbe(e, record, now); why != "" {
			return record, hook.Conflict(why)
		}
		if record.ProbeDue(now) && !now.Before(record.ThrottledUntil) { // perhaps sent already: a check sees by ProbeSentAt
			return record, nil
		}
		return record.Mended(false, now), nil
	})
}

// noProbe says why no probe can be sent now; empty: one can.
func noProbe(e hook.Endpoint, r admission.Record, now time.Time) string {
	switch {
	case e.Status == hook.StatusPaused:
		return "the endpoint is paused: resume it"
	case e.Status == hook.StatusDisabled:
		return "the endpoint is disabled: enable it"
	case r.State == circuit.Closed:
		return "the circuit is closed: deliveries need no probe"
	case now.Before(r.LeaseUntil):
		return "a probe is in flight, until " + r.LeaseUntil.UTC().Format(time.RFC3339) + " at the latest"
	case !r.HasParked():
		return "no delivery waits: send a test event"
	}
	return ""
}

// operate saves a caller's step of the circuit, and makes the breaker check the endpoint: at the next
// probe, or now if the circuit is closed.
func (a *Admin) operate(
	ctx context.Context, tenant hook.TenantID, ref string, step func(hook.Endpoint, admission.Record, time.Time) (admission.Record, error),
) (Status, error) {
	e, err := a.Get(ctx, tenant, ref)
	if err == nil {
		err = a.permit(e)
	}
	if err != nil {
		return Status{}, err
	}
	record, err := a.save(ctx, e, func(before admission.Record, now time.Time) (admission.Record, error) { return step(e, before, now) })
	if err != nil {
		return Status{}, err
	}
	if err := a.enqueue(ctx, record, max(0, record.NextProbe().Sub(a.now()))); err != nil {
		return Status{}, err
	}
	return a.StatusOf(ctx, e, record)
}

// release starts the release of parked deliveries after the endpoint got other limits or was
// deleted. A hold of a 429 becomes no longer than the endpoint now allows. The breaker asks
// the index even if the record knows of no parked delivery, because it may have forgotten one. The
// record is saved before the message is sent: if the message is lost, the breaker's tick starts the
// release.
func (a *Admin) release(ctx context.Context, e hook.Endpoint) error {
	most, _ := retry.Longest(&e)
	return a.checkNow(ctx, e, func(record admission.Record, now time.Time) (admission.Record, error) {
		return record.HeldAtMost(most, now).Suspect(now).Release(now), nil
	})
}

// mended makes the breaker try the endpoint at once, as release does. moved says that it is at
// another origin now.
func (a *Admin) mended(ctx context.Context, e hook.Endpoint, moved bool) error {
	return a.checkNow(ctx, e, func(record admission.Record, now time.Time) (admission.Record, error) {
		return record.Mended(moved, now), nil
	})
}

// shortenWait makes an open circuit wait for the next probe no longer than its cooldown.
func (a *Admin) shortenWait(ctx context.Context, e hook.Endpoint) error {
	var shorter bool
	record, err := a.save(ctx, e, func(record admission.Record, now time.Time) (admission.Record, error) {
		next := record.ProbeWithin(e.Circuit.WithDefaults().Cooldown, now)
		if shorter = next != record.Circuit; !shorter {
			return record, nil
		}
		record.Circuit = next
		return record.Release(now), nil
	})
	if err != nil || !shorter {
		return err
	}
	return a.enqueue(ctx, record, record.NextProbe().Sub(a.now()))
}

// checkNow saves the step, and makes the breaker check the endpoint now.
func (a *Admin) checkNow(ctx context.Context, e hook.Endpoint, step func(admission.Record, time.Time) (admission.Record, error)) error {
	record, err := a.save(ctx, e, step)
	if err != nil {
		return err
	}
	return a.enqueue(ctx, record, 0)
}

// save reads the endpoint's record, calls step and writes the result if the record changed. It
// starts again after a version conflict.
func (a *Admin) save(
	ctx context.Context, e hook.Endpoint, step func(admission.Record, time.Time) (admission.Record, error),
) (admission.Record, error) {
	before, after, err := admit.Circuits(a.Store, a.Wait).Update(ctx, hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID},
		func(before admission.Record) (admission.Record, bool, error) {
			after, err := step(before, a.now())
			return after, after != before, err
		})
	if err != nil {
		return admission.Record{}, err
	}
	if a.CircuitChanged != nil && after.State != before.State {
		a.CircuitChanged(before, after)
	}
	return after, nil
}

func (a *Admin) enqueue(ctx context.Context, record admission.Record, delay time.Duration) error {
	return a.CircuitQueue.Enqueue(ctx, record.Check(), delay)
}

// StatusOf returns the state of the endpoint with the record. It reads the limits if the endpoint has
// limits or parked deliveries.
func (a *Admin) StatusOf(ctx context.Context, e hook.Endpoint, record admission.Record) (Status, error) {
	now := a.now()
	if !now.Before(record.ThrottledUntil) {
		record.ThrottledUntil = time.Time{}
	}
	s := Status{
		Endpoint: e, Gate: record, Passes: record.Passes(&e, now), Strained: record.Strained(now), Rate: record.RateNow(&e, now), OldSecretsUntil: e.OldSecretsUntil(now), SignedBy: sign.SignedBy(&e, now),
	}
	width := 0
	if record.HasParked() {
		width = record.Width(&e, now)
	}
	if e.MaxInFlight > 0 || e.RatePerSecond > 0 || width > 0 {
		limits, err := a.Store.Limits(ctx, e.ID)
		if err != nil {
			return Status{}, fmt.Errorf("read limits of endpoint %s: %w", e.ID, err)
		}
		if e.MaxInFlight > 0 {
			s.InFlight = limits.InFlight(now)
		}
		s.Reserved = limits.Reserved(now)
		if width > 0 {
			s.Width = record.SlotsNow(limits, width, now)
		}
	}
	return s, nil
}
