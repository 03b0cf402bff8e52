package endpoint

import (
	"context"
	"time"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
)

// ProbeNow makes the breaker send a waiting delivery at once, as the probe of the endpoint's open
// circuit; the hold of a 429 is over. The probe's lease keeps a second one away: while a probe is in
// flight ProbeNow is CodeConflict, and a repeated call before that changes nothing. It is CodeConflict,
// too, if the endpoint is not active, if its circuit is closed, or if no delivery is known to wait.
func (a *Admin) ProbeNow(ctx context.Context, tenant hook.TenantID, ref string) (Status, error) {
	e, err := a.permitted(ctx, tenant, ref)
	if err != nil {
		return Status{}, err
	}
	_, record, err := admit.Circuits(a.Circuits, a.Wait).Update(ctx, hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID},
		func(before admission.Record) (admission.Record, bool, error) {
			now := a.now()
			if why := noProbe(&e, before, now); why != "" {
				return before, false, hook.Conflict(why)
			}
			if before.ProbeDue(now) && !now.Before(before.ThrottledUntil) { // perhaps sent already: a check sees by AttendAt
				return before, false, nil
			}
			return before.Mended(false, now), true, nil
		})
	if err != nil {
		return Status{}, err
	}
	if err := a.enqueue(ctx, record, 0); err != nil {
		return Status{}, err
	}
	return a.StatusOf(ctx, e, record)
}

// noProbe says why no probe can be sent now; empty: one can.
func noProbe(e *hook.Endpoint, r admission.Record, now time.Time) string {
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
