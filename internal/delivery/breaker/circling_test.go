package breaker_test

import (
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

// A check without progress adds a hop; a check that released or ended deliveries starts again
// from 0. A check past the bound is counted, and the chain continues.
func TestReconcile_CountsChecksSentOnTooOften(t *testing.T) {
	t.Parallel()

	waiting := func(w *bundle, e hook.Endpoint) { w.record(e, open(time.Minute, time.Minute)) }
	tests := []struct {
		name     string
		parked   []time.Duration
		given    func(w *bundle, e hook.Endpoint)
		hops     int
		next     int
		circling bool
	}{
		{name: "the first check", parked: ages(1), given: waiting, hops: 0, next: 1},
		{name: "one hop below the bound", parked: ages(1), given: waiting, hops: hook.MaxHops - 2, next: hook.MaxHops - 1},
		{name: "at the bound", parked: ages(1), given: waiting, hops: hook.MaxHops - 1, next: hook.MaxHops, circling: true},
		{name: "beyond the bound", parked: ages(1), given: waiting, hops: hook.MaxHops + 7, next: hook.MaxHops + 8, circling: true},
		{
			name: "a throttled release", parked: ages(1), hops: hook.MaxHops - 1, next: hook.MaxHops, circling: true,
			given: func(w *bundle, e hook.Endpoint) { w.record(e, throttled(time.Minute, closed(0, 0))) },
		},
		{
			name: "a wave is progress", parked: ages(2), hops: hook.MaxHops - 1, next: 0,
			given: func(w *bundle, e hook.Endpoint) { w.record(e, closed(0, 0)) },
		},
		{
			name: "a refused wave is none", parked: ages(2), hops: hook.MaxHops - 1, next: hook.MaxHops, circling: true,
			given: func(w *bundle, e hook.Endpoint) {
				w.record(e, closed(0, 0))
				w.Calls.Fail = func(verb string, _ hook.EndpointID) error {
					if verb == "send" {
						return errBroken
					}
					return nil
				}
			},
		},
		{
			name: "an ending is progress", parked: expired(600), hops: hook.MaxHops - 1, next: 0,
			given: func(w *bundle, e hook.Endpoint) { w.record(e, closed(0, 0)) },
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			e := w.Endpoint(nil)
			w.park(e, tt.parked...)
			tt.given(w, e)
			_ = w.Breaker().Reconcile(w.Context(), hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID, Hops: tt.hops}) // an error for refused tasks
			w.Clock.Pass(time.Minute)
			sent := w.CircuitQueue.Receive(10)
			if len(sent) != 1 || sent[0].Hops != tt.next {
				t.Errorf("next checks %+v; want one with %d hops", sent, tt.next)
			}
			counted := strings.Contains(w.Log.String(), `"messages_circling":1`) && len(w.lines("circuit_check.circling")) == 1
			if counted != tt.circling {
				t.Errorf("counted: %t; want %t: %s", counted, tt.circling, w.Log)
			}
		})
	}
}

// The longest healthy chain without progress, for an endpoint that is down for days with the
// longest cooldown, stays below the bound, because each probe begins a new chain.
func TestReconcile_StaysBelowTheBoundWhileAnEndpointIsDown(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(func(e *hook.Endpoint) {
		e.Circuit.Cooldown, e.Circuit.MaxCooldown = hook.MaxCooldown, hook.MaxCooldown
	})
	w.park(e, time.Minute)
	w.record(e, func(r admission.Record) admission.Record { return closed(0, 0)(r) })
	w.open(e)
	most := 0
	for range 3 * 24 * 4 {
		w.Clock.Pass(hook.MaxQueueDelay)
		for _, m := range w.CircuitQueue.Receive(10) {
			most = max(most, m.Hops)
			if err := w.Breaker().Reconcile(w.Context(), m.CircuitCheck); err != nil {
				t.Fatal(err)
			}
			w.CircuitQueue.Delete(m.ID)
		}
	}
	if most < 90 || most > 100 {
		t.Errorf("%d checks without progress at most; want about 96, one for every 15 minutes of a cooldown", most)
	}
}
