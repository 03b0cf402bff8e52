package breaker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"surehook.example/surehook/internal/delivery/parallel"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/retry"
	"surehook.example/surehook/internal/rule/review"
)

// The decisions, as logged.
const (
	decideEnd      = "end_more"  // more deliveries must end than the limit of one check
	decideAwait    = "await"     // too early for a probe: check again after the cooldown or the throttle
	decideIdle     = "idle"      // nothing parked, and the record expects nothing
	decideEmpty    = "empty"     // nothing parked: check again after emptyPeriod
	decideForget   = "forget"    // nothing parked for emptyPeriod
	decideFailed   = "failed"    // every parked delivery failed to end: try again
	decideRest     = "rest"      // the endpoint is paused or disabled
	decideHeld     = "held"      // a probe is under way
	decideProbe    = "probe"     // send a parked delivery
	decideStale    = "stale"     // the wave of the check was already released
	decideUnderWay = "under_way" // the message of the next wave is on the queue
	decideRelease  = "release"   // send the wave
	decideFill     = "fill"      // send a delivery through each free slot
	decidePause    = "throttled" // the endpoint is throttled: send the wave afterwards
)

// maxRest is the longest time between two checks of a paused or disabled endpoint.
const maxRest = time.Hour

// reconciliation is one check of an endpoint.
type reconciliation struct {
	*Breaker

	check    hook.CircuitCheck
	now      time.Time
	record   admission.Record
	endpoint *hook.Endpoint // nil for a deleted endpoint
	step     step

	faults []error                  // of single deliveries; the check went on
	failed map[hook.DeliveryID]bool // deliveries that this check failed to end

	released, expired, cancelled int
}

// step is what a check does. It saves the record first: of two checks, only the one that saves acts.
type step struct {
	decision string
	next     admission.Record
	act      func(context.Context) error // nil: nothing
}

// Reconcile reads the endpoint of the check and does the first applicable row of the table in
// the package documentation. After an error the caller may call it again; if not, Tick repeats
// the check.
//
// An error of a single delivery does not stop the check: Reconcile goes on with the probe or
// the release, and returns the error at the end.
func (b *Breaker) Reconcile(ctx context.Context, check hook.CircuitCheck) (err error) {
	r := reconciliation{Breaker: b, check: check}
	defer func() {
		if err != nil {
			err = fmt.Errorf("reconcile endpoint %s: %w", check.Endpoint, err)
		}
		r.logRun(ctx, err)
	}()
	defer parallel.Recover(&err)
	record, err := b.tell(ctx, check)
	if err == nil {
		_, _, err = b.circuits().UpdateFrom(ctx, record, check, func(stored admission.Record) (admission.Record, bool, error) { return r.decide(ctx, stored) })
	}
	if err == nil && r.step.act != nil {
		err = r.step.act(ctx)
	}
	if err == nil {
		err = r.reviewQuiet(ctx)
	}
	if r.step.decision == decideStale {
		return err // the check of the current wave reports the faults
	}
	return errors.Join(append(r.faults, err)...)
}

// decide ends the deliveries that can no longer be sent, and returns the record of the next step.
// Everything until then may be repeated with a newer record. A conflict about a delivery is no
// conflict about the record: it is one of the faults.
func (r *reconciliation) decide(ctx context.Context, stored admission.Record) (next admission.Record, write bool, err error) {
	if !r.hasTime(ctx, reserve) { // each try may end hundreds of deliveries
		return stored, false, errNoTime
	}
	r.now, r.record, r.endpoint, r.step = r.Now(), stored, nil, step{}
	r.faults, r.failed = nil, make(map[hook.DeliveryID]bool)
	if stored.Tenant != r.check.Tenant {
		// Under the wrong tenant the endpoint would look deleted, and the deliveries of another
		// tenant would be cancelled.
		return stored, false, fmt.Errorf("check of tenant %s for a circuit of tenant %s: %w", r.check.Tenant, stored.Tenant, hook.NotFound("endpoint"))
	}
	endpoint, err := r.Store.Endpoint(ctx, r.check.Tenant, r.check.Endpoint)
	switch {
	case err == nil:
		r.endpoint = &endpoint
	case hook.CodeOf(err) != hook.CodeNotFound:
		return stored, false, err
	}
	oldest, more, err := r.endParked(ctx)
	if err != nil {
		return stored, false, err
	}
	if r.step, err = r.plan(ctx, oldest, more); err != nil {
		return stored, false, err
	}
	next = r.step.next
	// Counted from now, not from the start of the check, which may have taken most of the invocation.
	if len(r.faults) > 0 || next.Untold != (admission.Untold{}) {
		next = next.AttendBy(r.Now().Add(admission.AttendAfter))
	}
	return next, next != stored, nil
}

// plan returns the step of the first applicable row. oldest is the oldest parked delivery that can
// be sent, and more says that others must end before.
func (r *reconciliation) plan(ctx context.Context, oldest *hook.Delivery, more bool) (step, error) {
	next := r.record
	if oldest != nil || len(r.faults) > 0 {
		next = next.ExpectParked(r.now) // the gate may have skipped this write for a delivery that it parked just now
	}
	active := r.endpoint != nil && r.endpoint.Status == hook.StatusActive
	switch {
	case more:
		return r.endMore(next), nil
	case active && r.mustAwaitProbe():
		return r.checkAt(decideAwait, next, r.record.NextProbe(), 0), nil
	case oldest == nil && len(r.faults) > 0:
		next.AttendAt = r.now.Add(admission.AttendAfter)
		return step{decision: decideFailed, next: next}, nil
	case oldest == nil:
		return r.forget(next), nil
	case !active:
		next.Wave, next.AttendAt = 0, r.now.Add(maxRest)
		loss := retry.Deadline(*oldest, r.endpoint.MaxAge).Add(time.Millisecond) // when it is expired
		if warning := loss.Add(-review.Lead(r.endpoint.MaxAge)); warning.After(r.now) {
			next = next.AttendBy(warning)
		}
		return step{decision: decideRest, next: next.AttendBy(loss)}, nil
	case r.record.State == circuit.Closed && r.record.Width(r.endpoint, r.now) > 0:
		return r.fillSlots(next), nil
	case r.record.State == circuit.Closed:
		return r.releaseWave(next), nil
	case !r.record.ProbeDue(r.now):
		next.AttendAt = r.record.NextProbe()
		return step{decision: decideHeld, next: next}, nil
	case r.now.Before(r.record.ProbeSentAt.Add(admission.AttendAfter)):
		next.AttendAt = r.record.ProbeSentAt.Add(admission.AttendAfter)
		return step{decision: decideHeld, next: next}, nil
	}
	return r.sendProbe(ctx, next)
}

// checkAt returns the step that checks the wave again at the time. SQS delays a message by at most
// 15 minutes, so a longer time takes several messages. Each check also ends expired deliveries.
func (r *reconciliation) checkAt(decision string, next admission.Record, at time.Time, wave int) step {
	next.AttendAt = at
	return step{decision: decision, next: next, act: func(ctx context.Context) error { return r.checkAgain(ctx, wave, at.Sub(r.now)) }}
}

// checkAgain enqueues the same check again. After a fault of a delivery it does nothing, because
// the message of the failed check comes again, and each repeat would add another message. If that
// message is lost, the tick checks the endpoint within AttendAfter. It does so, too, while nobody could be told of
// a transition; a message for later would be one more each minute.
func (r *reconciliation) checkAgain(ctx context.Context, wave int, delay time.Duration) error {
	untold := r.step.next.Untold != (admission.Untold{})
	if len(r.faults) > 0 || untold && delay > admission.AttendAfter {
		return nil
	}
	return r.enqueueCheck(ctx, wave, delay)
}

// enqueueCheck enqueues the next check. A check that released or ended a delivery made progress, so
// the count of hops starts again, and a release of any size stays below MaxHops.
func (r *reconciliation) enqueueCheck(ctx context.Context, wave int, delay time.Duration) error {
	next := hook.CircuitCheck{Tenant: r.check.Tenant, Endpoint: r.check.Endpoint, Wave: wave}
	if r.released+r.expired+r.cancelled == 0 {
		next.Hops = r.check.Hops + 1
	}
	if next.Hops >= hook.MaxHops {
		settle.LogCircling(ctx, r.Log, r.Metrics, r.Now(), "circuit_check.circling", next.Hops,
			slog.String(names.LogTenant, string(next.Tenant)),
			slog.String(names.LogEndpoint, string(next.Endpoint)),
			slog.String(names.LogDecision, r.step.decision),
			slog.Int(names.LogWave, next.Wave))
	}
	return r.CircuitQueue.Enqueue(ctx, next, delay)
}

func (r *reconciliation) logRun(ctx context.Context, err error) {
	settle.LogRun(ctx, r.Log, "circuit.reconciled", err, r.Metrics.Append([]slog.Attr{
		slog.String(names.LogTenant, string(r.check.Tenant)),
		slog.String(names.LogEndpoint, string(r.check.Endpoint)),
		slog.String(names.LogCircuit, r.record.State.String()),
		slog.String(names.LogDecision, r.step.decision),
		slog.Int(names.LogWave, r.check.Wave),
		slog.Int(names.LogReleased, r.released),
		slog.Int(names.LogExpired, r.expired),
		slog.Int(names.LogCancelled, r.cancelled),
	}, r.Now(), emf.Count(names.MetricDead, r.expired))...)
}
