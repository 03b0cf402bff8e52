package erasure_test

import (
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/stats"
)

// A warm function deliver holds successes of a busy endpoint back, is frozen, and is thawed for
// another tenant after the erasure. Its late write must not create a record of the erased tenant.
func TestEraser_heldCounts(t *testing.T) {
	t.Parallel()

	w := setup(t)
	sandbox := &admit.Gate{Releaser: admit.Releaser{Store: w.Store, Now: func() time.Time { return w.now }}, Shares: 5}
	succeed := func(e hook.Endpoint) {
		q := admission.Query{Endpoint: &e, State: admission.State{Record: admission.NewRecord(e.Tenant, e.ID)}, Due: make([]admission.Due, 1)}
		a, err := sandbox.Ask(t.Context(), q)
		check(w, err)
		check(w, sandbox.Learn(t.Context(), a.Answer, []admission.Result{{Attempt: stats.Attempt{
			Class: hook.ClassDelivered, Number: 1, State: hook.StateDelivered, Duration: time.Millisecond, Age: time.Second,
		}}}))
	}
	busy := hook.Endpoint{ID: w.acme.Endpoints[0].ID, Tenant: "acme", Status: hook.StatusActive, Shards: 1}
	_, err := w.Count(t.Context(), busy.Tenant, busy.ID, &stats.Counts{OK: 1000, Delivered: 1000}, w.now)
	check(w, err)
	for range 4 { // the first is written, and the others are held
		succeed(busy)
	}
	id := w.start()
	w.run(false)
	w.wantErased(id)
	w.now = w.now.Add(time.Hour)
	succeed(hook.Endpoint{ID: hook.NewEndpointID(), Tenant: "globex", Status: hook.StatusActive, Shards: 1})
	if left := w.Remains("acme"); len(left) > 0 {
		t.Errorf("the erased tenant has records again: %v", left)
	}
}
