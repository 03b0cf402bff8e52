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
	sweepPage = 100 // deliveries read at once
	sweepMost = 500 // deliveries that one look ends; the next look goes on
)

// endParked ends what is parked and has no future: everything if the endpoint was
// deleted, else what is older than its max_age. It returns the oldest that
// stays, nil for none; more says that it did not come to the end.
//
// Mostly the oldest stays, so it is read alone at first.
func (v *reconciliation) endParked(ctx context.Context) (oldest *hook.Delivery, more bool, err error) {
	for limit, done := 1, 0; done < sweepMost; limit = sweepPage {
		parked, err := v.Store.Parked(ctx, v.look.Endpoint, limit)
		if err != nil {
			return nil, false, fmt.Errorf("list parked deliveries: %w", err)
		}
		if len(parked) == 0 {
			return nil, false, nil
		}
		over := 0
		for over < len(parked) && v.mustEnd(parked[over]) {
			over++
		}
		if err := v.endDeliveries(ctx, parked[:over]); err != nil {
			return nil, false, err
		}
		if over < len(parked) {
			return &parked[over], false, nil
		}
		done += over
	}
	return nil, true, nil
}

func (v *reconciliation) mustEnd(d hook.Delivery) bool {
	return v.endpoint == nil || retry.Expired(d.CreatedAt, v.now, v.endpoint.MaxAge)
}

// expiresAt returns when a delivery of the endpoint will have expired, in the
// milliseconds that times are stored in.
func (v *reconciliation) expiresAt(d hook.Delivery) time.Time {
	return d.CreatedAt.Add(v.endpoint.MaxAge + time.Millisecond)
}

func (v *reconciliation) endDeliveries(ctx context.Context, deliveries []hook.Delivery) error {
	var ended atomic.Int64
	faults := each(len(deliveries), func(i int) error {
		d := deliveries[i]
		// No token made this decision, so none may take it for its own.
		d.Token, d.UpdatedAt, d.NextAttemptAt = "", v.now, time.Time{}
		if v.endpoint == nil {
			d.State, d.Reason = hook.StateCancelled, hook.ReasonDeleted
		} else {
			d.State, d.Reason = hook.StateDead, hook.ReasonExpired
		}
		ours, err := v.endDelivery(ctx, d)
		if ours {
			ended.Add(1)
		}
		return err
	})
	if n := int(ended.Load()); v.endpoint == nil {
		v.cancelled += n
	} else {
		v.expired += n
		v.countDead(ctx, n)
	}
	return errors.Join(faults...)
}

// countDead counts deliveries that died for the stats of their endpoint. A count
// that is lost decides nothing.
func (v *reconciliation) countDead(ctx context.Context, n int) {
	if n == 0 {
		return
	}
	if _, err := v.Store.Count(ctx, v.look.Tenant, v.look.Endpoint, stats.Counts{Dead: n}, v.now); err != nil {
		v.Log.ErrorContext(ctx, "dead_count.failed", slog.String(names.LogEndpoint, string(v.look.Endpoint)), slog.Any(names.LogError, err))
	}
}

// endDelivery ends one delivery, unless somebody moved it meanwhile. The letter and the aftermath go first: once the
// delivery is settled nobody comes back to it, so a crash after the write would
// lose them. This way it repeats them. If somebody moved the delivery meanwhile,
// all three are mended or harmless: the letter is reconciled with the record, a
// job counts the delivery as delivered once it is, and the generation before was
// retired a little early, since this one stands for it either way.
func (v *reconciliation) endDelivery(ctx context.Context, d hook.Delivery) (ours bool, err error) {
	if d.State == hook.StateDead {
		if err := v.DeadLetters.Send(ctx, hook.DeadLetterOf(d)); err != nil {
			return false, fmt.Errorf("bury delivery %s: %w", d.ID, err)
		}
	}
	if err := v.Settlement.Complete(ctx, d); err != nil {
		return false, fmt.Errorf("see to what follows from delivery %s: %w", d.ID, err)
	}
	return v.saveDelivery(ctx, d)
}

// saveDelivery writes the delivery, unless somebody moved it meanwhile: theirs stands.
func (v *reconciliation) saveDelivery(ctx context.Context, d hook.Delivery) (ours bool, err error) {
	err = v.Store.SaveDelivery(ctx, d, nil)
	if err != nil && hook.CodeOf(err) != hook.CodeConflict {
		return false, fmt.Errorf("save delivery %s: %w", d.ID, err)
	}
	return err == nil, nil
}
