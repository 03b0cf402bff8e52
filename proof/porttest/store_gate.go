package porttest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/stats"
)

// gateCases run the real gate on the store, with many concurrent calls.
func gateCases() []storeCase {
	return []storeCase{
		{name: "of 50 deliveries racing for a probe's lease exactly one is admitted", run: probeRace},
		{name: "of a probe's success and failure that race the success counts", run: probedRace},
		{name: "50 failures that race open a circuit once", run: openRace},
		{name: "of 20 racing deliveries two are in flight at once", run: inFlightRace},
		{name: "20 racing deliveries get slots of their own", run: slotRace},
	}
}

// enqueued counts circuit checks.
type enqueued struct{ n atomic.Int64 }

// Enqueue counts the check.
func (e *enqueued) Enqueue(context.Context, hook.CircuitCheck, time.Duration) error {
	e.n.Add(1)
	return nil
}

// newGate returns a gate on the store, with the fixed time now.
func newGate(s StoreUnderTest, now time.Time) (*admit.Gate, *enqueued) {
	checks := new(enqueued)
	return &admit.Gate{Releaser: admit.Releaser{Store: s, CircuitQueue: checks, Now: func() time.Time { return now }}, Shares: 100}, checks
}

// newQuery returns a query for a new delivery of the endpoint.
func newQuery(t *testing.T, e hook.Endpoint, r admission.Record) admission.Query {
	t.Helper()

	d := hook.DeliveryID{Event: newEventID(t), Endpoint: e.ID, Generation: 1}
	return admission.Query{Endpoint: &e, State: admission.State{Record: r}, Queue: hook.QueueOverflow, Due: []admission.Due{{Delivery: d, Attempt: 1, Nonce: hook.NewNonce()}}}
}

// ask makes n concurrent calls of Ask, each for a new delivery.
func ask(t *testing.T, g *admit.Gate, e hook.Endpoint, r admission.Record, n int) ([]admission.Query, []*admit.Permits) {
	t.Helper()

	queries, answers := make([]admission.Query, n), make([]*admit.Permits, n)
	for i := range queries {
		queries[i] = newQuery(t, e, r)
	}
	winners := race(t, n, func(ctx context.Context, i int) (err error) {
		answers[i], err = g.Ask(ctx, queries[i])
		return err
	})
	if len(winners) != n {
		t.Fatalf("successful racing calls of Ask: %d of %d", len(winners), n)
	}
	return queries, answers
}

// openRecord returns an open circuit at the end of its first cooldown.
func openRecord(e hook.Endpoint) admission.Record {
	r := admission.NewRecord(e.Tenant, e.ID)
	s := circuit.Settings{CircuitSettings: e.Circuit.WithDefaults()}
	r.Circuit = r.Circuit.Trip(s, storeEpoch().Add(-s.Cooldown))
	r.AttendAt = r.ProbeAt
	return r
}

func probeRace(t *testing.T, s StoreUnderTest) {
	e := smallEndpoint("acme")
	g, _ := newGate(s, storeEpoch())
	r := saveRecord(t, s, openRecord(e))
	queries, answers := ask(t, g, e, r, 50)
	var probes []string
	for i, a := range answers {
		if a.Answer.Verdicts[0].Decision == admission.Admit {
			probes = append(probes, queries[i].Due[0].Holder())
		} else if want := (admission.Verdict{Decision: admission.Park, Reason: hook.ReasonCircuit}); a.Answer.Verdicts[0] != want {
			t.Errorf("Ask() = %+v; want %+v", a.Answer.Verdicts[0], want)
		}
	}
	got, err := s.Circuit(t.Context(), e.Tenant, e.ID)
	if err != nil || len(probes) != 1 || got.State != circuit.HalfOpen || got.Holder != probes[0] || !got.Waiting {
		t.Errorf("admitted: %v, circuit %+v, %v; want one delivery, a half-open circuit held by the delivery, and Waiting", probes, got, err)
	}
}

func probedRace(t *testing.T, s StoreUnderTest) {
	results := []admission.Result{{Attempt: stats.Attempt{Class: hook.ClassDelivered}}, {Attempt: stats.Attempt{Class: hook.ClassTimeout}}}
	for range 10 {
		e := smallEndpoint("acme")
		g, _ := newGate(s, storeEpoch())
		q := newQuery(t, e, saveRecord(t, s, openRecord(e)))
		a, err := g.Ask(t.Context(), q)
		check(t, err)
		r, err := s.Circuit(t.Context(), e.Tenant, e.ID)
		check(t, err)
		race(t, len(results), func(ctx context.Context, i int) error { return g.Learn(ctx, a.Answer, results[i:i+1]) })

		got, err := s.Circuit(t.Context(), e.Tenant, e.ID)
		check(t, err)
		cooldown := hook.DefaultCooldown
		writes := got.Version - r.Version
		if writes == 2 { // the failure came first
			cooldown = cooldown * 3 / 2
		}
		closed := got.State == circuit.Closed && got.Generation == r.Generation+1 && got.Cooldown == cooldown
		if !closed || writes < 1 || writes > 2 || got.Untold.Last.State != circuit.Closed {
			t.Errorf("circuit after a race of success and failure = %+v; want it closed, by one write or two, and the closing untold", got)
		}
	}
}

func openRace(t *testing.T, s StoreUnderTest) {
	e := smallEndpoint("acme")
	g, checks := newGate(s, storeEpoch())
	_, answers := ask(t, g, e, admission.NewRecord(e.Tenant, e.ID), 50)
	winners := race(t, len(answers), func(ctx context.Context, i int) error {
		return g.Learn(ctx, answers[i].Answer, []admission.Result{{Attempt: stats.Attempt{Class: hook.ClassTimeout}}})
	})
	got, err := s.Circuit(t.Context(), e.Tenant, e.ID)
	if err != nil || len(winners) != 50 || got.State != circuit.Open || got.Generation != 1 || got.Version > 5 {
		t.Errorf("circuit after 50 failures = %+v, %v; want it open, in its first generation", got, err)
	}
	if n := checks.n.Load(); n != 1 {
		t.Errorf("%d circuit checks were enqueued; want one", n)
	}
}

func inFlightRace(t *testing.T, s StoreUnderTest) {
	e := smallEndpoint(hook.TenantID("in-flight-" + hook.NewNonce())) // with shares of its own
	e.MaxInFlight = 2
	g, _ := newGate(s, storeEpoch())
	for range 3 { // slots given back are given again
		_, answers := ask(t, g, e, admission.NewRecord(e.Tenant, e.ID), 20)
		admitted := 0
		for _, a := range answers {
			if a.Answer.Verdicts[0].Decision == admission.Admit {
				admitted++
			}
		}
		l, err := s.Limits(t.Context(), e.ID)
		if err != nil || admitted != 2 || l.InFlight(storeEpoch()) != 2 {
			t.Fatalf("admitted: %d of 20, limits %+v, %v; want 2", admitted, l, err)
		}
		race(t, len(answers), func(ctx context.Context, i int) error { return g.Learn(ctx, answers[i].Answer, nil) })
		if shares, err := s.Shares(t.Context(), e.Tenant); err != nil || len(shares.Leases) != 0 {
			t.Fatalf("Shares(all settled) = %+v, %v; want none", shares, err)
		}
		check(t, s.ChangeLimits(t.Context(), e.ID, l, admission.Limits{}))
	}
}

func slotRace(t *testing.T, s StoreUnderTest) {
	e := smallEndpoint("acme")
	const apart = 500 * time.Millisecond // a nearer slot is taken at once
	e.RatePerSecond = float64(time.Second / apart)
	g, _ := newGate(s, storeEpoch())
	r := admission.NewRecord(e.Tenant, e.ID)
	r.Speed, r.SeenAt = admission.Fast, storeEpoch() // needs no slot
	_, answers := ask(t, g, e, r, 20)
	slots := make(map[time.Time]bool)
	for _, a := range answers {
		v := a.Answer.Verdicts[0]
		if v.Decision == admission.Admit {
			v.Until = storeEpoch()
		}
		slots[v.Until] = true
	}
	for i := range answers {
		if at := storeEpoch().Add(time.Duration(i) * apart); !slots[at] {
			t.Errorf("no delivery has the slot %d after the first; slots: %v", i, slots)
		}
	}
	want := storeEpoch().Add(20 * apart)
	if l, err := s.Limits(t.Context(), e.ID); err != nil || l.RateSlot != want {
		t.Errorf("Limits() = slot %s, %v; want %s", l.RateSlot, err, want)
	}
}
