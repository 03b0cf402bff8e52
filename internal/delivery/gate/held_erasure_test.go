package gate_test

import (
	"testing"
	"time"

	"surehook/internal/admin/erasure"
	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
)

// A warm function holds successes back, is frozen, and thaws for another tenant after the
// erasure of the first one. The late write makes no record of the erased tenant.
func TestGate_HeldCountsDoNotReturnAfterAnErasure(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e0 := active()
	e0.ID, e0.Tenant, e0.URL = endpoint, tenant, "https://example.com/hooks"
	if err := w.Store.CreateEndpoint(t.Context(), *e0); err != nil {
		t.Fatal(err)
	}
	w.busy(10)
	for range 5 {
		w.report(w.gate(), endpoint, success)
	}
	now := w.Clock.Now()
	e, err := w.Store.BeginErasure(t.Context(), erasure.Erasure{ID: hook.NewErasureID(), Tenant: tenant, CreatedAt: now, Stage: erasure.StageStop})
	if err != nil {
		t.Fatal(err)
	}
	for stage := erasure.StageStop; stage < erasure.StageDone; stage++ { // as Eraser.steps, without waits
		w.Clock.Pass(erasure.Quiet)
		for {
			part, err := w.Store.FindRecords(t.Context(), tenant, stage, "")
			if err != nil {
				t.Fatal(err)
			}
			if len(part.Records) == 0 {
				break
			}
			if err := w.Store.RemoveRecords(t.Context(), tenant, part.Records); err != nil {
				t.Fatal(err)
			}
		}
	}
	e.Stage = erasure.StageDone
	if err := w.Store.FinishErasure(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if got := w.delivered(endpoint); got != "" {
		t.Fatalf("after the erasure, the endpoint has counts: %s", got)
	}
	if left := w.Store.Remains(tenant); len(left) > 0 {
		t.Fatalf("after the erasure: %v", left)
	}
	w.Clock.Pass(time.Hour)
	const other hook.EndpointID = "ep_fedcba9876543210"
	e2 := active() // the next invocation of the sandbox, for an endpoint of another tenant
	e2.ID, e2.Tenant = other, "globex"
	a, err := w.gate().Admit(t.Context(), &gate.Query{Tenant: "globex", ID: other, Endpoint: e2, Record: gate.NewRecord("globex", other), Due: make([]gate.Due, 1)})
	if err == nil {
		err = w.gate().Settle(t.Context(), a, []gate.Result{success})
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := w.delivered(endpoint); got != "" {
		t.Errorf("the erased tenant's endpoint has counts again: %s", got)
	}
	for _, left := range w.Store.Remains(tenant) {
		t.Errorf("the erased tenant has the record %s again", left)
	}
}
