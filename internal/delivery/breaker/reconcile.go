package breaker

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"surehook/internal/delivery/gate"
	"surehook/internal/emf"
	"surehook/internal/hook"
	"surehook/internal/names"
	"surehook/internal/rule/circuit"
	"surehook/internal/rule/isolation"
)

const (
	// emptyPeriod is how long the index must list no parked delivery before the
	// breaker forgets the endpoint. A gate that already knows of waiting
	// deliveries does not write the record again. So the period exceeds the time
	// from the gate's decision to the entry in the index.
	emptyPeriod = 2 * time.Minute
	// maxRest is the longest time between two checks of a paused or disabled endpoint.
	maxRest = time.Hour
	// firstLook is the time from the forgetting of an endpoint to the next question to the
	// index. Each further look doubles the time, until the age of the oldest delivery that
	// the index may have missed is above max_age, and above leastLooks.
	firstLook  = 15 * time.Minute
	leastLooks = time.Hour
	// probeChoice is the number of parked deliveries among which the breaker chooses a probe.
	probeChoice = 50
	// maxPlaces is the number of places in the list of parked deliveries where the breaker
	// looks for younger deliveries than the last probe: 10 halvings of an hour are 3.5 s.
	maxPlaces = 10
)

// The decisions, as logged.
const (
	decideEnd     = "end_more"  // more deliveries must end than the limit of one check
	decideAwait   = "await"     // no probe yet: check again after the cooldown or the throttle
	decideIdle    = "idle"      // nothing parked, and the record expects nothing
	decideEmpty   = "empty"     // nothing parked: check again
	decideForget  = "forget"    // nothing parked for emptyPeriod
	decideFailed  = "failed"    // every parked delivery failed to end: try again
	decideRest    = "rest"      // the endpoint is paused or disabled
	decideHeld    = "held"      // a probe is under way
	decideProbe   = "probe"     // send a parked delivery
	decideStale   = "stale"     // an earlier check released the wave
	decideUnder   = "under_way" // the message of the next wave is on the queue
	decideRelease = "release"   // send the wave
	decideFill    = "fill"      // send a delivery in each free in-flight slot
	decidePause   = "throttled" // the endpoint is throttled: send the wave afterwards
)

// reconciliation is one check of an endpoint.
type reconciliation struct {
	*Breaker

	check    hook.CircuitCheck
	now      time.Time
	record   gate.Record    // as read
	endpoint *hook.Endpoint // nil for a deleted endpoint

	faults []error                   // of single deliveries; the check went on
	failed map[hook.DeliveryRef]bool // deliveries that this check failed to end

	decision                     string
	released, expired, cancelled int
}

// reconcileEndpoint reads the endpoint and the record, and decides. CodeConflict
// means a concurrent change of the record; every effect so far is repeatable. The
// errors of single deliveries are in faults, and a conflict in faults repeats nothing.
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
		next = next.Wait(r.now) // the gate skips this write for a delivery parked at the last moment
	}
	active := r.endpoint != nil && r.endpoint.Status == hook.StatusActive
	switch {
	case more:
		return r.continueEnding(ctx, next)
	case active && r.mustAwaitProbe():
		return r.awaitProbe(ctx, next)
	case oldest == nil && len(r.faults) > 0:
		r.decision = decideFailed
		next.AttendAt = r.now.Add(gate.AttendAfter)
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
		// Under the wrong tenant the endpoint would look deleted, and Reconcile would
		// cancel the deliveries of another tenant.
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
	return nil
}

// continueEnding asks for another check at once. Before, continueEnding moves AttendAt,
// so that the tick begins no second ending beside this one. The time of the save
// counts, because the ending may have taken most of the invocation. The last check of
// an ending may then find AttendAt in the next minute, and the tick sends the probe: an
// ending delays a probe by at most AttendAfter.
func (r *reconciliation) continueEnding(ctx context.Context, next gate.Record) error {
	r.decision = decideEnd
	next = next.Wait(r.now)
	next.AttendAt = r.Now().Add(gate.AttendAfter)
	if err := r.saveCircuit(ctx, next); err != nil {
		return err
	}
	return r.checkAgain(ctx, r.check.Wave, 0)
}

// mustAwaitProbe reports whether the next probe needs another check: the circuit is
// open before the end of the cooldown, or not closed before the end of the throttle.
func (r *reconciliation) mustAwaitProbe() bool {
	throttled := r.record.State == circuit.HalfOpen && r.now.Before(r.record.ThrottledUntil)
	return throttled || r.record.State == circuit.Open && r.now.Before(r.record.NextProbe())
}

// awaitProbe schedules a check for the time of the next probe. SQS delays a message
// by at most 15 minutes, so a longer time takes several messages. Each of them also
// ends the expired deliveries.
func (r *reconciliation) awaitProbe(ctx context.Context, next gate.Record) error {
	r.decision = decideAwait
	next.AttendAt = r.record.NextProbe()
	if err := r.saveCircuit(ctx, next); err != nil {
		return err
	}
	return r.checkAgain(ctx, 0, next.AttendAt.Sub(r.now))
}

// forgetEndpoint forgets the endpoint in two checks, emptyPeriod apart. An open
// circuit stays open: the next new delivery is the probe.
func (r *reconciliation) forgetEndpoint(ctx context.Context, next gate.Record) error {
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

// planLook plans the look after a look without a parked delivery. No look follows the
// first one at which every delivery missed before the forgetting is expired: such a
// delivery would have ended with its letter.
func (r *reconciliation) planLook(next gate.Record) gate.Record {
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

// sendProbe sends the token of a parked delivery, and names the token the probe: the gate
// gives the lease to no other token while deliveries are parked. The delivery stays
// parked until the token arrives. If the token is lost, Tick sends another token.
func (r *reconciliation) sendProbe(ctx context.Context, next gate.Record) error {
	// Only a check with a probe sets AttendAt within the next minute. The gate sets
	// AttendAt to the time of the next probe, and the check of a paused or
	// disabled endpoint sets AttendAt farther in the future.
	now := r.Now() // the reads may have taken most of the invocation
	if left := r.record.AttendAt.Sub(now); left > 0 && left <= gate.AttendAfter {
		r.decision = decideHeld
		return nil
	}
	parked, err := r.probes(ctx, now)
	if err != nil || len(parked) == 0 {
		return err // Tick checks the endpoint again
	}
	probe := likeliest(parked, r.record.ProbeType)
	r.decision = decideProbe
	next.AttendAt, next.ProbeType, next.ProbedFrom = r.Now().Add(gate.AttendAfter), probe.EventType, probe.CreatedAt // the reads take time too
	if err := r.saveCircuit(ctx, next); err != nil {
		return err
	}
	token := probe.NextToken()
	token.Probe = true
	if errs := r.Queue.Send(ctx, hook.LaneRetry, []hook.Token{token}, 0); errs != nil {
		return fmt.Errorf("send probe %s: %w", probe.ID, errs[0])
	}
	return nil
}

// probes returns the parked deliveries among which a probe is chosen: the oldest, when
// they are all or no probe was sent yet, and otherwise deliveries from halfway between the
// last probe and now on. Each failed probe leads to younger deliveries, until none are
// younger, and then to the oldest again. So a burst of deliveries that always fail does
// not hide the deliveries behind.
func (r *reconciliation) probes(ctx context.Context, now time.Time) ([]hook.Delivery, error) {
	limits, err := r.Store.Limits(ctx, r.check.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("read limits: %w", err)
	}
	leases := limits.Live(now).Leases
	oldest, err := r.withoutSlot(ctx, leases, time.Time{}, probeChoice)
	if err != nil || len(oldest) < probeChoice || r.record.ProbedFrom.IsZero() {
		return oldest, err
	}
	span := now.Sub(r.record.ProbedFrom)
	for range maxPlaces {
		span /= 2
		younger, err := r.withoutSlot(ctx, leases, r.record.ProbedFrom.Add(max(span, time.Millisecond)), probeChoice)
		if err != nil || len(younger) > 0 {
			return younger, err
		}
	}
	return oldest, nil
}

// withoutSlot returns parked deliveries without one of the leases, created at or after
// since, the oldest first. The token of a delivery with a lease is on its way, or its
// attempt is in flight.
func (r *reconciliation) withoutSlot(ctx context.Context, leases map[string]isolation.Lease, since time.Time, limit int) ([]hook.Delivery, error) {
	parked, err := r.listParked(ctx, since, limit+len(leases))
	if err != nil {
		return nil, err
	}
	parked = slices.DeleteFunc(parked, func(d hook.Delivery) bool {
		_, leased := leases[isolation.LeaseKey(d.ID)]
		return leased
	})
	return parked[:min(limit, len(parked))], nil
}

// likeliest returns the delivery with the best prospect as a probe: the fewest
// attempts, then another type than the last probe, then the oldest. A delivery that
// always fails, or a type of them, must not hold the circuit open.
func likeliest(parked []hook.Delivery, last string) hook.Delivery {
	return slices.MinFunc(parked, func(a, b hook.Delivery) int {
		repeats := func(d hook.Delivery) int {
			if d.EventType == last {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(repeats(a), repeats(b)), cmp.Compare(a.Attempts, b.Attempts), a.CreatedAt.Compare(b.CreatedAt))
	})
}

// fillSlots sends a delivery in each free in-flight slot. The slots then hand
// themselves over: see package release. The tick fills the slots again when all of
// their tokens are lost, and as long as deliveries wait.
func (r *reconciliation) fillSlots(ctx context.Context, next gate.Record) error {
	if r.now.Before(r.record.ThrottledUntil) {
		return r.pauseRelease(ctx, next)
	}
	r.decision = decideFill
	next.Wave = 0
	next.AttendAt = r.now.Add(gate.AttendAfter)
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

// saveCircuit saves the record, if changed. With a fault of a delivery, the next
// check is due within AttendAfter.
func (r *reconciliation) saveCircuit(ctx context.Context, next gate.Record) error {
	// Not from the begin of the check: a minute later the next check would send a second
	// token for the probe at once.
	if soon := r.Now().Add(gate.AttendAfter); len(r.faults) > 0 && soon.Before(next.AttendAt) {
		next.AttendAt = soon
	}
	if next == r.record {
		return nil
	}
	if err := r.Store.SaveCircuit(ctx, next); err != nil {
		return fmt.Errorf("save circuit: %w", err)
	}
	return nil
}

// checkAgain enqueues the same check. With a fault of a delivery, checkAgain does
// nothing: the message of the failed check returns, and the tick checks within
// AttendAfter. Otherwise each return of the message would add another message.
func (r *reconciliation) checkAgain(ctx context.Context, wave int, delay time.Duration) error {
	if len(r.faults) > 0 {
		return nil
	}
	return r.enqueueCheck(ctx, wave, delay)
}

func (r *reconciliation) enqueueCheck(ctx context.Context, wave int, delay time.Duration) error {
	next := hook.CircuitCheck{Tenant: r.check.Tenant, Endpoint: r.check.Endpoint, Wave: wave, Hops: r.nextHops()}
	r.logCircling(ctx, next)
	if err := r.CircuitQueue.Enqueue(ctx, next, delay); err != nil {
		return fmt.Errorf("enqueue next circuit check: %w", err)
	}
	return nil
}

func (r *reconciliation) logReconciliation(ctx context.Context, err error) {
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String(names.LogTenant, string(r.check.Tenant)),
		slog.String(names.LogEndpoint, string(r.check.Endpoint)),
		slog.String(names.LogCircuit, r.record.State.String()),
		slog.String(names.LogDecision, r.decision),
		slog.Int(names.LogWave, r.check.Wave),
		slog.Int(names.LogReleased, r.released),
		slog.Int(names.LogExpired, r.expired),
		slog.Int(names.LogCancelled, r.cancelled),
	}
	if err != nil {
		level = slog.LevelError
		attrs = append(attrs, slog.Any(names.LogError, err))
	}
	r.Log.LogAttrs(ctx, level, "circuit.reconciled",
		r.Metrics.Append(attrs, r.Now(), emf.Count(names.MetricDead, r.expired))...)
}
