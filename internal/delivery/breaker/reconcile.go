package breaker

import (
	"context"
	"fmt"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
)

const (
	// emptyPeriod is how long the index must list no parked delivery before the breaker forgets
	// the endpoint. A gate that knows of waiting deliveries does not write the record again, so
	// the period must be longer than it takes from the gate's decision until the index lists
	// the delivery.
	emptyPeriod = 2 * time.Minute
	// maxRest is the longest time between two checks of a paused or disabled endpoint.
	maxRest = time.Hour
	// firstLook is the time from forgetting an endpoint to the first look in the index for
	// deliveries that it missed. Each further look doubles the time since the endpoint was
	// forgotten, until every missed delivery would be older than max_age, and at least
	// leastLooks.
	firstLook  = 15 * time.Minute
	leastLooks = time.Hour
	// probeChoice is the number of parked deliveries among which the breaker chooses a probe.
	probeChoice = 50
	// maxHalvings limits how often the breaker halves the time to look for deliveries younger
	// than the last probe's: 10 halvings of an hour are 3.5 s.
	maxHalvings = 10
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
	decideShed     = "shed"      // too many attempts fail: release when fewer do
	decidePause    = "throttled" // the endpoint is throttled: send the wave afterwards
)

// reconciliation is one check of an endpoint.
type reconciliation struct {
	*Breaker

	check    hook.CircuitCheck
	now      time.Time
	record   admission.Record // as read
	endpoint *hook.Endpoint   // nil for a deleted endpoint

	faults []error                   // of single deliveries; the check went on
	failed map[hook.DeliveryRef]bool // deliveries that this check failed to end

	decision                     string
	released, expired, cancelled int
}

// reconcileEndpoint reads the endpoint and the record, decides and acts. CodeConflict means
// that the record was changed concurrently: everything done so far may be repeated. The errors
// of single deliveries go to faults; a conflict among them repeats nothing.
func (r *reconciliation) reconcileEndpoint(ctx context.Context) error {
	if err := r.readEndpoint(ctx); err != nil {
		return err
	}
	oldest, more, err := r.endParked(ctx)
	if err != nil {
		return err
	}
	next := r.record
	if oldest != nil || len(r.faults) > 0 {
		next = next.Wait(r.now) // the gate may have skipped this write for a delivery that it parked just now
	}
	active := r.endpoint != nil && r.endpoint.Status == hook.StatusActive
	switch {
	case more:
		return r.continueEnding(ctx, next)
	case active && r.mustAwaitProbe():
		return r.awaitProbe(ctx, next)
	case oldest == nil && len(r.faults) > 0:
		r.decision = decideFailed
		next.AttendAt = r.now.Add(admission.AttendAfter)
		return r.saveCircuit(ctx, next)
	case oldest == nil:
		return r.forgetEndpoint(ctx, next)
	case !active:
		r.decision = decideRest
		next.Wave = 0
		next.AttendAt = r.now.Add(maxRest)
		if expires := r.expiresAt(*oldest); expires.Before(next.AttendAt) {
			next.AttendAt = expires
		}
		return r.saveCircuit(ctx, next)
	case r.record.State == circuit.Closed && r.record.Width(r.endpoint, r.now) > 0:
		return r.fillSlots(ctx, next)
	case r.record.Sheds(r.now) > 0:
		r.decision = decideShed
		next.Wave, next.AttendAt = 0, r.record.ShedAt.Add(circuit.Window)
		return r.saveCircuit(ctx, next)
	case r.record.State == circuit.Closed:
		return r.releaseWave(ctx, next)
	case !r.record.ProbeDue(r.now):
		r.decision = decideHeld
		next.AttendAt = r.record.NextProbe()
		return r.saveCircuit(ctx, next)
	}
	return r.sendProbe(ctx, next)
}

func (r *reconciliation) readEndpoint(ctx context.Context) error {
	r.now, r.faults, r.failed = r.Now(), nil, make(map[hook.DeliveryRef]bool)
	record, err := r.Store.Circuit(ctx, r.check.Tenant, r.check.Endpoint)
	if err != nil {
		return fmt.Errorf("read circuit: %w", err)
	}
	if record.Tenant != r.check.Tenant {
		// Under the wrong tenant the endpoint would look deleted, and the deliveries of another
		// tenant would be cancelled.
		return fmt.Errorf("check of tenant %s for a circuit of tenant %s: %w", r.check.Tenant, record.Tenant, hook.NotFound("endpoint"))
	}
	r.record, r.endpoint = record, nil
	endpoint, err := r.Store.Endpoint(ctx, r.check.Tenant, r.check.Endpoint)
	switch {
	case err == nil:
		r.endpoint = &endpoint
	case hook.CodeOf(err) != hook.CodeNotFound:
		return fmt.Errorf("read endpoint: %w", err)
	}
	return r.announce(ctx)
}

// continueEnding asks for another check at once, to end more deliveries. First it moves
// AttendAt, so that the tick does not start a second ending in parallel. AttendAt counts from
// the save, because the ending may have taken most of the invocation. As a consequence the last
// check of an ending may find AttendAt within the next minute and leave the probe to the tick:
// an ending delays a probe by at most AttendAfter.
func (r *reconciliation) continueEnding(ctx context.Context, next admission.Record) error {
	r.decision = decideEnd
	next = next.Wait(r.now)
	next.AttendAt = r.Now().Add(admission.AttendAfter)
	if err := r.saveCircuit(ctx, next); err != nil {
		return err
	}
	return r.checkAgain(ctx, r.check.Wave, 0)
}

// forgetEndpoint forgets the endpoint in two checks that are emptyPeriod apart. An open circuit
// stays open: the next new delivery is the probe.
func (r *reconciliation) forgetEndpoint(ctx context.Context, next admission.Record) error {
	next.Wave = 0
	switch {
	case !next.Waiting:
		r.decision = decideIdle
		next.AttendAt = time.Time{}
		next = r.planLook(next)
	case next.EmptySince.IsZero():
		r.decision = decideEmpty
		next.EmptySince = r.now
		next.AttendAt = r.now.Add(emptyPeriod)
	case r.now.Before(next.EmptySince.Add(emptyPeriod)):
		r.decision = decideEmpty
		next.AttendAt = next.EmptySince.Add(emptyPeriod)
	default:
		r.decision = decideForget
		next.Waiting, next.EmptySince, next.AttendAt = false, time.Time{}, time.Time{}
		next.LookFrom, next.LookAt = r.now, r.now.Add(firstLook)
	}
	return r.saveCircuit(ctx, next)
}

// planLook plans the next look after one that found no parked delivery. There is a last look,
// at which every delivery that was missed is expired: a missed delivery would be found there
// and be ended.
func (r *reconciliation) planLook(next admission.Record) admission.Record {
	oldest := hook.MaxMaxAge
	if r.endpoint != nil {
		oldest = max(r.endpoint.MaxAge, leastLooks)
	}
	last := next.LookFrom.Add(oldest)
	switch age := r.now.Sub(next.LookFrom); {
	case next.LookAt.IsZero() || r.now.Before(next.LookAt): // no look
	case age >= oldest:
		next.LookFrom, next.LookAt = time.Time{}, time.Time{}
	case age >= oldest/2:
		next.LookAt = last
	default:
		next.LookAt = r.now.Add(age)
	}
	return next
}

// fillSlots sends a delivery through each free slot. From then on the slots are handed over
// from one delivery to the next: see package admit. As long as deliveries wait, the tick
// fills the slots again, in case their tokens were lost.
func (r *reconciliation) fillSlots(ctx context.Context, next admission.Record) error {
	if r.now.Before(r.record.ThrottledUntil) {
		return r.pauseRelease(ctx, next)
	}
	r.decision = decideFill
	next.Wave = 0
	next.AttendAt = r.now.Add(admission.AttendAfter)
	if err := r.saveCircuit(ctx, next); err != nil {
		return err
	}
	released, err := r.Releaser.Fill(ctx, *r.endpoint, next)
	r.released = released
	if err != nil {
		return fmt.Errorf("fill slots: %w", err)
	}
	return nil
}

// saveCircuit saves the record if it has changed. After a fault of a delivery, the next check
// is due within AttendAfter.
func (r *reconciliation) saveCircuit(ctx context.Context, next admission.Record) error {
	// Counted from now, not from the start of the check: otherwise the next check could soon
	// send a second token for the probe.
	if soon := r.Now().Add(admission.AttendAfter); len(r.faults) > 0 && soon.Before(next.AttendAt) {
		next.AttendAt = soon
	}
	next = next.AttendBy(next.AnnounceAt)
	if next == r.record {
		return nil
	}
	if err := r.Store.SaveCircuit(ctx, next); err != nil {
		return fmt.Errorf("save circuit: %w", err)
	}
	return nil
}
