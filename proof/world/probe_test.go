package world_test

import (
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/proof/world"
)

// Somebody asks for a probe: a waiting delivery goes out at once, although the next probe was an hour
// away. Asking again before it has arrived, and messages that come twice, begin no second one.
func TestAdmin_probesNow(t *testing.T) {
	t.Parallel()

	for _, answers := range []bool{true, false} {
		w := world.New(t, world.Options{Function: world.Breaker, Circuits: true})
		w.Receipts = 2
		e := w.Endpoint(func(e *hook.Endpoint) { e.Circuit.Cooldown, e.Circuit.MaxCooldown = time.Hour, time.Hour })
		refs := parked(w, e, 3)
		now := w.Clock.Now()
		record := w.Circuit(e).ExpectParked(now).Trip(circuit.Settings{CircuitSettings: e.Circuit.WithDefaults()}, now)
		if err := w.Store.SaveCircuit(t.Context(), record); err != nil {
			t.Fatal(err)
		}
		if !answers {
			w.Answer = world.Always(503)
		}
		w.RunFor(10 * time.Minute)
		if len(w.Posts) > 0 {
			t.Fatalf("%d requests before the cooldown is over", len(w.Posts))
		}
		for range 3 {
			if _, err := admin(w).ProbeNow(t.Context(), e.Tenant, string(e.ID)); err != nil {
				t.Fatalf("ProbeNow() = %v", err)
			}
		}
		w.RunFor(time.Minute)
		want := "3 delivered"
		if !answers {
			want = "3 parked circuit_open"
		}
		if got := w.States(refs); got != want || !answers && len(w.Posts) != 1 {
			t.Errorf("answers: %t: a minute after the call %s, %d requests; want %s", answers, got, len(w.Posts), want)
		}
	}
}

// parked stores n parked deliveries.
func parked(w *world.World, e hook.Endpoint, n int) []hook.DeliveryRef {
	var refs []hook.DeliveryRef
	for range n {
		d := hook.QueuedDelivery(w.Event("order.paid", w.Clock.Now().Add(-time.Minute), e), e.Target())
		d.State, d.Reason, d.DecidedBy = hook.StateParked, hook.ReasonCircuit, hook.NewNonce()
		w.Save(d)
		refs = append(refs, d.Ref())
	}
	return refs
}

func admin(w *world.World) *endpoint.Admin {
	return &endpoint.Admin{
		Store: w.Store, CircuitQueue: w.CircuitQueue,
		Vault: memory.Vault{}, Policy: egress.Policy{}, Now: w.Clock.Now, Wait: world.NoWait,
	}
}

// A probe that cannot be sent is a conflict that says why, and changes nothing.
func TestAdmin_probesNot(t *testing.T) {
	t.Parallel()

	open := func(r admission.Record, now time.Time) admission.Record {
		return r.ExpectParked(now).Trip(circuit.Settings{CircuitSettings: hook.CircuitSettings{}.WithDefaults()}, now)
	}
	tests := map[string]struct {
		status hook.Status
		record func(r admission.Record, now time.Time) admission.Record
		why    string
	}{
		"paused":   {status: hook.StatusPaused, record: open, why: "paused"},
		"disabled": {status: hook.StatusDisabled, record: open, why: "disabled"},
		"closed":   {status: hook.StatusActive, record: func(r admission.Record, now time.Time) admission.Record { return r.ExpectParked(now) }, why: "closed"},
		"a probe in flight": {status: hook.StatusActive, record: func(r admission.Record, now time.Time) admission.Record {
			r = open(r, now)
			r.Circuit, _ = r.Probe("task", r.ProbeAt)
			return r
		}, why: "in flight"},
		"nothing waits": {status: hook.StatusActive, record: func(r admission.Record, now time.Time) admission.Record {
			r = open(r, now)
			r.Waiting = false
			return r
		}, why: "no delivery waits"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := world.New(t, world.Options{Function: world.Breaker, Circuits: true})
			e := w.Endpoint(func(e *hook.Endpoint) { e.Status = tt.status })
			parked(w, e, 1)
			if err := w.Store.SaveCircuit(t.Context(), tt.record(w.Circuit(e), w.Clock.Now())); err != nil {
				t.Fatal(err)
			}
			before := w.Circuit(e)
			_, err := admin(w).ProbeNow(t.Context(), e.Tenant, string(e.ID))
			if hook.CodeOf(err) != hook.CodeConflict || !strings.Contains(err.Error(), tt.why) || w.Circuit(e) != before {
				t.Errorf("ProbeNow() = %v, and the record %+v; want a conflict that says %q, and %+v", err, w.Circuit(e), tt.why, before)
			}
		})
	}
}
