package breaker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"surehook/internal/hook"
	"surehook/internal/names"
	"surehook/internal/rule/retry"
	"surehook/internal/rule/stats"
)

const (
	endPage  = 100 // deliveries per read
	maxEnded = 500 // deliveries ended by one check; the next check continues
)

// endParked ends the parked deliveries without a future: every delivery of a
// deleted endpoint, otherwise the deliveries older than max_age. endParked
// returns the oldest remaining delivery, or nil; more reports that deliveries
// remain to be ended.
//
// Usually the oldest delivery remains, so the first read has a limit of 1.
func (r *reconciliation) endParked(ctx context.Context) (oldest *hook.Delivery, more bool, err error) {
	for limit, done := 1, 0; done < maxEnded; limit = endPage {
		parked, err := r.Store.Parked(ctx, r.check.Endpoint, limit)
		if err != nil {
			return nil, false, fmt.Errorf("list parked deliveries: %w", err)
		}
		if len(parked) == 0 {
			return nil, false, nil
		}
		over := 0
		for over < len(parked) && r.mustEnd(parked[over]) {
			over++
		}
		if err := r.endDeliveries(ctx, parked[:over]); err != nil {
			return nil, false, err
		}
		if over < len(parked) {
			return &parked[over], false, nil
		}
		done += over
	}
	return nil, true, nil
}

func (r *reconciliation) mustEnd(d hook.Delivery) bool {
	return r.endpoint == nil || retry.Expired(d.CreatedAt, r.now, r.endpoint.MaxAge)
}

// expiresAt returns the first stored time, in milliseconds, at which the delivery
// is expired.
func (r *reconciliation) expiresAt(d hook.Delivery) time.Time {
	return d.CreatedAt.Add(r.endpoint.MaxAge + time.Millisecond)
}

func (r *reconciliation) endDeliveries(ctx context.Context, deliveries []hook.Delivery) error {
	var ended atomic.Int64
	faults := forEach(len(deliveries), func(i int) error {
		d := deliveries[i]
		// No token made this decision, so the record names no token.
		d.Token, d.UpdatedAt, d.NextAttemptAt = "", r.now, time.Time{}
		if r.endpoint == nil {
			d.State, d.Reason = hook.StateCancelled, hook.ReasonDeleted
		} else {
			d.State, d.Reason = hook.StateDead, hook.ReasonExpired
		}
		saved, err := r.endDelivery(ctx, d)
		if saved {
			ended.Add(1)
		}
		return err
	})
	if n := int(ended.Load()); r.endpoint == nil {
		r.cancelled += n
	} else {
		r.expired += n
		r.countDead(ctx, n)
	}
	return errors.Join(faults...)
}

// countDead adds dead deliveries to the stats of the endpoint. A lost count
// changes no delivery, so countDead logs the error and continues.
func (r *reconciliation) countDead(ctx context.Context, n int) {
	if n == 0 {
		return
	}
	if _, err := r.Store.Count(ctx, r.check.Tenant, r.check.Endpoint, stats.Counts{Dead: n}, r.now); err != nil {
		r.Log.ErrorContext(ctx, "dead_count.failed", slog.String(names.LogEndpoint, string(r.check.Endpoint)), slog.Any(names.LogError, err))
	}
}

// endDelivery sends the dead letter, completes the settlement, and then saves the
// delivery, in this order: nobody processes a settled delivery again, so a crash
// after the save would lose the letter and the settlement. A crash before the
// save repeats both. saved is false when another writer changed the delivery
// meanwhile. The repetition is then harmless: ReconcileDeadLetters removes the
// letter, the job counts the delivery as delivered after the success, and the
// previous generation retires early, because the delivery replaces the previous
// generation in both cases.
func (r *reconciliation) endDelivery(ctx context.Context, d hook.Delivery) (saved bool, err error) {
	if d.State == hook.StateDead {
		if err := r.DeadLetters.Send(ctx, hook.DeadLetterOf(d)); err != nil {
			return false, fmt.Errorf("send dead letter of delivery %s: %w", d.ID, err)
		}
	}
	if err := r.Settlement.Complete(ctx, d); err != nil {
		return false, fmt.Errorf("complete settlement of delivery %s: %w", d.ID, err)
	}
	return r.saveDelivery(ctx, d)
}

// saveDelivery saves the delivery. After a version conflict the write of the
// other process stands, and saved is false.
func (r *reconciliation) saveDelivery(ctx context.Context, d hook.Delivery) (saved bool, err error) {
	err = r.Store.SaveDelivery(ctx, d, nil)
	if err != nil && hook.CodeOf(err) != hook.CodeConflict {
		return false, fmt.Errorf("save delivery %s: %w", d.ID, err)
	}
	return err == nil, nil
}
