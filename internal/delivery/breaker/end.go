package breaker

import (
	"context"
	"log/slog"
	"time"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/retry"
	"surehook.example/surehook/internal/rule/stats"
)

const (
	endPage  = 100 // deliveries per read
	maxEnded = 500 // deliveries that one check ends; the next check continues

	// emptyPeriod is how long the index must list no parked delivery before the breaker forgets
	// the endpoint. A gate that knows of waiting deliveries does not write the record again, so
	// the period must be longer than it takes from the gate's decision until the index lists
	// the delivery.
	emptyPeriod = 2 * time.Minute
	// firstLook is the time from forgetting an endpoint to the first look in the index for
	// deliveries that it missed. Each further look doubles the time since the endpoint was
	// forgotten, until every missed delivery would be older than max_age, and at least
	// leastLooks.
	firstLook  = 15 * time.Minute
	leastLooks = time.Hour
)

// endParked ends the parked deliveries that can no longer be sent: all those of a deleted
// endpoint, and otherwise those older than max_age. It returns the oldest remaining delivery,
// or nil. more reports that deliveries remain to be ended.
//
// If a delivery cannot be ended it stays parked, its error goes to faults, and this check
// leaves it alone from then on. If every delivery of a check fails, the next check would only
// find the same ones, so endParked reports no more and looks for a delivery that need not end.
//
// Usually the oldest delivery remains, so the first read has a limit of 1.
func (r *reconciliation) endParked(ctx context.Context) (oldest *hook.Delivery, more bool, err error) {
	limit := 1
	for done := 0; done < maxEnded; limit = endPage {
		over, oldest, err := r.listOver(ctx, limit)
		if err != nil || len(over) == 0 {
			return oldest, false, err
		}
		r.endDeliveries(ctx, over)
		if oldest != nil {
			return oldest, false, nil
		}
		done += len(over)
	}
	if len(r.failed) < maxEnded {
		return nil, true, nil
	}
	_, oldest, err = r.listOver(ctx, limit)
	return oldest, false, err
}

// listOver lists parked deliveries, at most limit. over are those to end, at the beginning of the
// list, and oldest is the one behind them; nil: none in the list.
func (r *reconciliation) listOver(ctx context.Context, limit int) (over []hook.Delivery, oldest *hook.Delivery, err error) {
	parked, err := r.listParked(ctx, admission.Limits{}, time.Time{}, limit)
	for i, d := range parked {
		if r.endpoint != nil && !retry.Expired(d, r.now, r.endpoint.MaxAge) {
			return parked[:i], &d, err
		}
	}
	return parked, nil, err
}

// listParked returns parked deliveries created at or after since, the oldest first, at most limit, without the
// deliveries that this check failed to end, and without those that have one of the leases: the task of such a delivery
// is on its way, or its attempt is in flight.
func (r *reconciliation) listParked(ctx context.Context, live admission.Limits, since time.Time, limit int) ([]hook.Delivery, error) {
	target := hook.DeletedTarget(r.check.Endpoint)
	if r.endpoint != nil {
		target = r.endpoint.Widest()
	}
	return r.Store.Parked(ctx, target, since, limit, admit.Except{
		About: len(r.failed) + len(live.Leases), Has: func(d hook.DeliveryID) bool { return r.failed[d] || live.Leased(d) },
	})
}

// endDeliveries ends the deliveries, and adds the errors to faults. An error of one delivery
// does not stop the others.
func (r *reconciliation) endDeliveries(ctx context.Context, deliveries []hook.Delivery) {
	state, reason, ended := hook.StateDead, hook.ReasonExpired, &r.expired
	if r.endpoint == nil {
		state, reason, ended = hook.StateCancelled, hook.ReasonDeleted, &r.cancelled
	}
	saved, errs := make([]bool, len(deliveries)), make([]error, len(deliveries))
	r.faults = append(r.faults, forEach(len(deliveries), func(i int) error {
		d := deliveries[i]
		// No task made this decision, so the record names no task.
		d.DecidedBy, d.UpdatedAt, d.NextAttemptAt = "", r.now, time.Time{}
		d.State, d.Reason = state, reason
		saved[i], errs[i] = r.endDelivery(ctx, d)
		return errs[i]
	})...)
	var dead stats.Counts
	for i, d := range deliveries {
		if errs[i] != nil {
			r.failed[d.ID] = true
		}
		if saved[i] {
			*ended++
			dead.Add(stats.Deaths(d.EventType, 1))
		}
	}
	if state == hook.StateDead && dead.Dead > 0 {
		r.completion().CountDead(ctx, r.check.Tenant, r.check.Endpoint, &dead, r.now)
	}
}

// endDelivery completes the end of the delivery, and then saves it. The order matters: nobody
// processes a settled delivery again, so a crash after the save would lose the letter and the rest
// of the work, while a crash before the save only repeats them.
//
// saved is false if another writer has changed the delivery meanwhile. Then the work was premature
// but harmless: ReconcileDeadLetters removes the letter, the job counts the
// delivery as delivered if it succeeds, and the previous generation, which this delivery
// replaces anyway, is retired early.
func (r *reconciliation) endDelivery(ctx context.Context, d hook.Delivery) (saved bool, err error) {
	if err := r.completion().Complete(ctx, d); err != nil {
		return false, err
	}
	if saved, err = r.saveDelivery(ctx, d); saved {
		err = r.orders().Ended(ctx, d)
		// The same line as function deliver writes for a decision without an attempt.
		r.Log.LogAttrs(ctx, slog.LevelInfo, lineDecided, settle.AppendDecision(settle.Attrs(d), &d)...)
	}
	return saved, err
}

const lineDecided = names.LineDecided

// endMore asks for another check at once, to end more deliveries. First it moves
// AttendAt, so that the tick does not start a second ending in parallel. AttendAt counts from
// the save, because the ending may have taken most of the invocation.
func (r *reconciliation) endMore(next admission.Record) step {
	next = next.ExpectParked(r.now)
	next.AttendAt = r.Now().Add(admission.AttendAfter)
	return step{decision: decideEnd, next: next, act: func(ctx context.Context) error { return r.checkAgain(ctx, r.check.Wave, 0) }}
}

// forget forgets the endpoint in two checks that are emptyPeriod apart. An open circuit
// stays open: the next new delivery is the probe.
func (r *reconciliation) forget(next admission.Record) step {
	next.Wave = 0
	switch {
	case !next.Waiting:
		next.AttendAt = time.Time{}
		return step{decision: decideIdle, next: r.planLook(next)}
	case next.EmptySince.IsZero():
		next.EmptySince = r.now
	case !r.now.Before(next.EmptySince.Add(emptyPeriod)):
		next.Waiting, next.EmptySince, next.AttendAt = false, time.Time{}, time.Time{}
		next.LookFrom, next.LookAt = r.now, r.now.Add(firstLook)
		return step{decision: decideForget, next: next}
	}
	next.AttendAt = next.EmptySince.Add(emptyPeriod)
	return step{decision: decideEmpty, next: next}
}

// planLook plans the next look after one that found no parked delivery. There is a last look,
// at which every delivery that was missed is expired: a missed delivery would be found there
// and be ended.
func (r *reconciliation) planLook(next admission.Record) admission.Record {
	oldest := hook.MaxMaxAge
	if r.endpoint != nil {
		oldest = max(r.endpoint.MaxAge, leastLooks)
	}
	switch age := r.now.Sub(next.LookFrom); {
	case next.LookAt.IsZero() || r.now.Before(next.LookAt): // no look
	case age >= oldest:
		next.LookFrom, next.LookAt = time.Time{}, time.Time{}
	default:
		next.LookAt = next.LookFrom.Add(min(2*age, oldest))
	}
	return next
}
