package breaker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"surehook/internal/hook"
	"surehook/internal/retry"
)

const (
	sweepPage = 100 // deliveries read at once
	sweepMost = 500 // deliveries that one look ends; the next look goes on
)

// sweep ends what is parked and has no future: everything if the endpoint was
// deleted, else what is older than its max_age. It returns the oldest that
// stays, nil for none; more says that it did not come to the end.
//
// Mostly the oldest stays, so it is read alone at first.
func (v *visit) sweep(ctx context.Context) (oldest *hook.Delivery, more bool, err error) {
	for limit, done := 1, 0; done < sweepMost; limit = sweepPage {
		parked, err := v.Store.Parked(ctx, v.look.Endpoint, limit)
		if err != nil {
			return nil, false, fmt.Errorf("list parked deliveries: %w", err)
		}
		if len(parked) == 0 {
			return nil, false, nil
		}
		over := 0
		for over < len(parked) && v.over(parked[over]) {
			over++
		}
		if err := v.end(ctx, parked[:over]); err != nil {
			return nil, false, err
		}
		if over < len(parked) {
			return &parked[over], false, nil
		}
		done += over
	}
	return nil, true, nil
}

func (v *visit) over(d hook.Delivery) bool {
	return v.endpoint == nil || retry.Expired(d.CreatedAt, v.now, v.endpoint.MaxAge)
}

// expiry returns when a delivery of the endpoint will have expired, in the
// milliseconds that times are stored in.
func (v *visit) expiry(d hook.Delivery) time.Time {
	return d.CreatedAt.Add(v.endpoint.MaxAge + time.Millisecond)
}

func (v *visit) end(ctx context.Context, deliveries []hook.Delivery) error {
	faults := each(len(deliveries), func(i int) error {
		d := deliveries[i]
		// No token made this decision, so none may take it for its own.
		d.Token, d.UpdatedAt, d.NextAttemptAt = "", v.now, time.Time{}
		if v.endpoint == nil {
			d.State, d.Reason = hook.StateCancelled, hook.ReasonDeleted
		} else {
			d.State, d.Reason = hook.StateDead, hook.ReasonExpired
		}
		return v.conclude(ctx, d)
	})
	if v.endpoint == nil {
		v.cancelled += len(deliveries) - len(faults)
	} else {
		v.expired += len(deliveries) - len(faults)
	}
	return errors.Join(faults...)
}

// conclude ends one delivery. The letter and the aftermath go first: once the
// delivery is settled nobody comes back to it, so a crash after the write would
// lose them. This way it repeats them. If somebody moved the delivery meanwhile,
// all three are mended or harmless: the letter is reconciled with the record, a
// job counts the delivery as delivered once it is, and the generation before was
// retired a little early, since this one stands for it either way.
func (v *visit) conclude(ctx context.Context, d hook.Delivery) error {
	if d.State == hook.StateDead {
		if err := v.DeadLetters.Bury(ctx, hook.DeadLetterOf(d)); err != nil {
			return fmt.Errorf("bury delivery %s: %w", d.ID, err)
		}
	}
	if err := v.Aftermath.Settled(ctx, d); err != nil {
		return fmt.Errorf("see to what follows from delivery %s: %w", d.ID, err)
	}
	return v.settle(ctx, d)
}

// settle writes the delivery, unless somebody moved it meanwhile: theirs stands.
func (v *visit) settle(ctx context.Context, d hook.Delivery) error {
	err := v.Store.SaveDelivery(ctx, d, nil)
	if err != nil && hook.CodeOf(err) != hook.CodeConflict {
		return fmt.Errorf("save delivery %s: %w", d.ID, err)
	}
	return nil
}
