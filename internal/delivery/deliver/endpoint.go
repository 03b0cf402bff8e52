package deliver

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
	"surehook/internal/names"
)

// processEndpoint asks the gate about the due jobs of one endpoint, applies the
// verdicts concurrently, reports the results to the gate and adds them to made.
func (d *Deliverer) processEndpoint(ctx context.Context, jobs []*job, record gate.Record, made *results) {
	capTimeouts(jobs, record.Review.Timeout)
	q := gate.Query{Tenant: record.Tenant, ID: record.Endpoint, Endpoint: jobs[0].endpoint, Record: record}
	for _, j := range jobs {
		q.Due = append(q.Due, gate.Due{
			Delivery: j.token.Delivery.DeliveryID, Attempt: j.token.Attempt, Nonce: j.token.Nonce, Reserved: j.token.Reserved,
		})
	}
	admission, err := d.Gate.Admit(ctx, q)
	if err != nil {
		for _, j := range jobs {
			j.err = fmt.Errorf("ask gate of endpoint %s: %w", q.ID, err)
		}
		return
	}
	var (
		wg  sync.WaitGroup
		own results
	)
	for i, j := range jobs {
		wg.Go(func() {
			own.run(j, func() (gate.Result, error) { return d.applyVerdict(ctx, &j.subject, admission.Verdicts[i]) })
		})
	}
	wg.Wait()
	made.add(own.all...)
	// Deliveries are already settled, so log and continue. Later attempts correct
	// the circuit, and leases expire.
	if err := d.Gate.Settle(ctx, admission, own.attempts()); err != nil {
		d.Log.ErrorContext(ctx, "gate.settle_failed", slog.String(names.LogEndpoint, string(q.ID)), slog.Any(names.LogError, err))
	}
}

// capTimeouts applies the timeout set by the review of a slow endpoint; 0: no cap.
func capTimeouts(jobs []*job, most time.Duration) {
	for _, j := range jobs {
		if most > 0 && j.endpoint != nil {
			j.endpoint.Timeout = min(j.endpoint.Timeout, most)
		}
	}
}

// applyVerdict acts on the gate's verdict about one delivery.
func (d *Deliverer) applyVerdict(ctx context.Context, s *subject, v gate.Verdict) (gate.Result, error) {
	switch v.Decision {
	case gate.Park:
		// Write also when the delivery is parked for the same reason. A concurrent
		// release may have sent the token without updating the record yet. The write
		// makes the update of the release conflict, so the delivery stays parked.
		return d.settleUnattempted(ctx, s, settleAs(s, hook.StateParked, v.Reason, d.Now()))
	case gate.Cancel:
		return d.settleUnattempted(ctx, s, settleAs(s, hook.StateCancelled, v.Reason, d.Now()))
	case gate.Delay:
		token := sameToken(s.token)
		token.Reserved = v.Reserved
		d.logDelayed(ctx, s, v.Until)
		return gate.Result{}, d.sendToken(ctx, token, v.Until)
	case gate.Admit:
		return d.makeAttempt(ctx, s)
	}
	return gate.Result{}, fmt.Errorf("unknown decision %d of the gate for delivery %s", v.Decision, s.token.Delivery)
}
