package breaker_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/store"
)

func TestReconcile_DoesNothingWithoutTime(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(nil)
	ids := w.park(e, ages(1)...)
	w.record(e, closed(0, 0))
	ctx, cancel := context.WithDeadline(w.Context(), time.Now().Add(time.Hour))
	defer cancel()
	deadline, _ := ctx.Deadline()
	b := w.Breaker()
	b.Now = func() time.Time { return deadline.Add(-10*time.Second + 1) }
	if err := b.Reconcile(ctx, hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID}); err == nil || w.Calls.Total() > 1 {
		t.Errorf("Reconcile() with too little time = %v after %d requests; want an error after the read of the circuit", err, w.Calls.Total())
	}
	b.Now = func() time.Time { return deadline.Add(-10 * time.Second) }
	if err := b.Reconcile(ctx, hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID}); err != nil {
		t.Errorf("Reconcile() with enough time = %v; deliveries are %s", err, w.States(ids))
	}
}

func TestReconcile_RepeatsAfterAConflict(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		writes int
		states string
		ok     bool
	}{
		{name: "once", writes: 1, states: "2 parked circuit_open, 2 retrying", ok: true},
		{name: "at all tries but the last", writes: store.Tries - 1, states: "2 parked circuit_open, 2 retrying", ok: true},
		{name: "always: the check fails", writes: 1000, states: "4 parked circuit_open", ok: false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			e := w.Endpoint(nil)
			ids := w.park(e, ages(4)...)
			w.record(e, closed(2, time.Minute))
			writes := 0
			w.Calls.Fail = func(verb string, _ hook.EndpointID) error {
				if verb == "write circuit" && writes < tt.writes {
					writes++
					w.record(e, func(r admission.Record) admission.Record { r.Failures++; return r })
				}
				return nil
			}
			err := w.Breaker().Reconcile(w.Context(), hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID, Wave: 2})
			if (err == nil) != tt.ok || w.States(ids) != tt.states || writes > store.Tries {
				t.Errorf("Reconcile() = %v with %d concurrent writes, and deliveries are %s; want ok: %t, at most %d, %s", err, writes, w.States(ids), tt.ok, store.Tries, tt.states)
			}
		})
	}
}

func TestTick_UsesTheWaveOfTheRecord(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(nil)
	ids := w.park(e, ages(6)...)
	w.record(e, closed(2, 0))
	w.Calls.Before("read circuit", func() { w.record(e, closed(3, 0)) }) // after the due circuits were listed
	if err := w.Breaker().Tick(w.Context()); err != nil || w.States(ids) != "2 parked circuit_open, 4 retrying" {
		t.Errorf("Tick() = %v and deliveries are %s; want wave 3 released", err, w.States(ids))
	}
}

func TestTick_ContinuesAfterABadEndpoint(t *testing.T) {
	t.Parallel()

	w := setup(t)
	var ids []hook.DeliveryRef
	var bad hook.EndpointID
	for range 30 {
		e := w.Endpoint(nil)
		bad = e.ID
		ids = append(ids, w.park(e, time.Minute)...)
		w.record(e, closed(0, 0))
	}
	w.Calls.Fail = func(verb string, id hook.EndpointID) error {
		if id != bad {
			return nil
		}
		if verb == "read circuit" {
			panic("bad")
		}
		return nil
	}
	err := w.Breaker().Tick(w.Context())
	if err == nil || !strings.Contains(err.Error(), string(bad)) {
		t.Errorf("Tick() = %v; want an error with %s", err, bad)
	}
	if got, want := w.States(ids), "1 parked circuit_open, 29 retrying"; got != want {
		t.Errorf("deliveries are %s; want %s", got, want)
	}
}
