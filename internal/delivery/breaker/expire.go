package breaker

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/rule/retry"
	"surehook.example/surehook/internal/rule/stats"
)

const (
	endPage  = 100 // deliveries per read
	maxEnded = 500 // deliveries that one check ends; the next check continues
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
		parked, err := r.listParked(ctx, time.Time{}, limit)
		if err != nil || len(parked) == 0 {
			return nil, false, err
		}
		over := r.countOver(parked)
		r.endDeliveries(ctx, parked[:over])
		if over < len(parked) {
			return &parked[over], false, nil
		}
		done += over
	}
	if len(r.failed) < maxEnded {
		return nil, true, nil
	}
	parked, err := r.listParked(ctx, time.Time{}, limit)
	if err != nil {
		return nil, false, err
	}
	if over := r.countOver(parked); over < len(parked) {
		return &parked[over], false, nil
	}
	return nil, false, nil
}

// listParked returns parked deliveries created at or after since, the oldest first, at
// most limit, without the deliveries that this check failed to end.
func (r *reconciliation) listParked(ctx context.Context, since time.Time, limit int) ([]hook.Delivery, error) {
	target := hook.DeletedTarget(r.check.Endpoint)
	if r.endpoint != nil {
		target = r.endpoint.Widest()
	}
	parked, err := r.Store.Parked(ctx, target, since, limit+len(r.failed))
	if err != nil {
		return nil, fmt.Errorf("list parked deliveries: %w", err)
	}
	parked = slices.DeleteFunc(parked, func(d hook.Delivery) bool { return r.failed[d.Ref()] })
	return parked[:min(limit, len(parked))], nil
}

// countOver returns the number of deliveries to end at the beginning of the list.
func (r *reconciliation) countOver(parked []hook.Delivery) int {
	over := 0
	for over < len(parked) && r.mustEnd(parked[over]) {
		over++
	}
	return over
}

func (r *reconciliation) mustEnd(d hook.Delivery) bool {
	return r.endpoint == nil || retry.Expired(d, r.now, r.endpoint.MaxAge)
}

// expiresAt returns the first time, in the stored milliseconds, at which the delivery is
// expired.
func (r *reconciliation) expiresAt(d hook.Delivery) time.Time {
	return retry.Deadline(d, r.endpoint.MaxAge).Add(time.Millisecond)
}

// endDeliveries ends the deliveries, and adds the errors to faults. An error of one delivery
// does not stop the others.
func (r *reconciliation) endDeliveries(ctx context.Context, deliveries []hook.Delivery) {
	ended := make([]bool, len(deliveries))
	failed := make([]bool, len(deliveries))
	faults := forEach(len(deliveries), func(i int) error {
		d := deliveries[i]
		// No token made this decision, so the record names no token.
		d.Token, d.UpdatedAt, d.NextAttemptAt = "", r.now, time.Time{}
		if r.endpoint == nil {
			d.State, d.Reason = hook.StateCancelled, hook.ReasonDeleted
		} else {
			d.State, d.Reason = hook.StateDead, hook.ReasonExpired
		}
		var err error
		ended[i], err = r.endDelivery(ctx, d)
		failed[i] = err != nil
		if ended[i] {
			r.logDecided(ctx, d)
		}
		return err
	})
	r.faults = append(r.faults, faults...)
	var dead stats.Counts
	n := 0
	for i, d := range deliveries {
		if failed[i] {
			r.failed[d.Ref()] = true
		}
		if ended[i] {
			n++
			dead.Add(stats.Deaths(d.EventType, 1))
		}
	}
	if r.endpoint == nil {
		r.cancelled += n
	} else {
		r.expired += n
		r.countDead(ctx, &dead)
	}
}

const lineDecided = names.LineDecided

// logDecided writes the same line as function deliver for a decision without an attempt,
// because the saved queries count deaths in these lines.
func (r *reconciliation) logDecided(ctx context.Context, d hook.Delivery) {
	r.Log.LogAttrs(ctx, slog.LevelInfo, lineDecided,
		slog.String(names.LogTenant, string(d.Tenant)),
		slog.String(names.LogEvent, string(d.ID.Event)),
		slog.String(names.LogEventType, d.EventType),
		slog.String(names.LogEndpoint, string(d.ID.Endpoint)),
		slog.String(names.LogDelivery, d.ID.String()),
		slog.String(names.LogDecision, d.State.String()),
		slog.String(names.LogReason, string(d.Reason)))
}

// countDead adds dead deliveries to the counts of the endpoint. No delivery depends on the
// counts, so an error is only logged.
func (r *reconciliation) countDead(ctx context.Context, dead *stats.Counts) {
	if dead.Dead == 0 {
		return
	}
	if _, err := r.Store.Count(ctx, r.check.Tenant, r.check.Endpoint, dead, r.now); err != nil {
		r.Log.ErrorContext(ctx, "dead_count.failed", slog.String(names.LogEndpoint, string(r.check.Endpoint)), slog.Any(names.LogError, err))
	}
}

// endDelivery sends the dead letter, completes the settlement, and then saves the delivery. The
// order matters: nobody processes a settled delivery again, so a crash after the save would
// lose the letter and the completion, while a crash before the save only repeats them.
//
// saved is false if another writer has changed the delivery meanwhile. Then the first two steps
// were premature but harmless: ReconcileDeadLetters removes the letter, the job counts the
// delivery as delivered if it succeeds, and the previous generation, which this delivery
// replaces anyway, is retired early.
func (r *reconciliation) endDelivery(ctx context.Context, d hook.Delivery) (saved bool, err error) {
	if d.State == hook.StateDead {
		if err := r.DeadLetters.Send(ctx, hook.DeadLetterOf(d)); err != nil {
			return false, fmt.Errorf("send dead letter of delivery %s: %w", d.ID, err)
		}
	}
	if err := r.Completer.Complete(ctx, d); err != nil {
		return false, fmt.Errorf("complete settlement of delivery %s: %w", d.ID, err)
	}
	return r.saveDelivery(ctx, d)
}

// saveDelivery saves the delivery. saved is false after a conflict: the write of the other
// process stands.
func (b *Breaker) saveDelivery(ctx context.Context, d hook.Delivery) (saved bool, err error) {
	err = b.Store.SaveDelivery(ctx, d, nil)
	if err != nil && hook.CodeOf(err) != hook.CodeConflict {
		return false, fmt.Errorf("save delivery %s: %w", d.ID, err)
	}
	return err == nil, nil
}
