package replay

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"surehook.example/surehook/internal/conflict"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// Discard discards a dead delivery, which is then no longer an open dead letter. note is the
// caller's reason. If the delivery was already discarded by hand, it is returned unchanged. Any
// other state than dead gives CodeConflict.
func (r *Replayer) Discard(ctx context.Context, tenant hook.TenantID, id hook.DeliveryID, by hook.KeyID, note string) (hook.Delivery, error) {
	return r.end(ctx, tenant, id, ending{
		to: hook.StateDiscarded, by: by, note: note, can: discardable,
	})
}

// Cancel cancels a queued, retrying or parked delivery. An attempt in flight may still reach
// the endpoint. If the delivery was already cancelled by hand, it is returned unchanged. Any
// other settled delivery gives CodeConflict.
func (r *Replayer) Cancel(ctx context.Context, tenant hook.TenantID, id hook.DeliveryID, by hook.KeyID, note string) (hook.Delivery, error) {
	return r.end(ctx, tenant, id, ending{
		to: hook.StateCancelled, by: by, note: note,
		can: func(d hook.Delivery) error {
			if d.State.Settled() {
				return hook.Conflict(fmt.Sprintf("it is %s: only a delivery that is queued, retrying or parked can be cancelled", d.State))
			}
			return nil
		},
	})
}

// discardable returns the refusal to discard a delivery that is not dead.
func discardable(d hook.Delivery) error {
	if d.State != hook.StateDead {
		return hook.Conflict(fmt.Sprintf("it is %s: only a dead delivery can be discarded", d.State))
	}
	return nil
}

// ending is a manual end of a delivery.
type ending struct {
	to    hook.State
	by    hook.KeyID
	note  string
	nonce string                    // marks the record as written by a job; empty: a fresh nonce
	can   func(hook.Delivery) error // the refusal to end the delivery, if any
}

// end saves the ending and then completes the settlement. If the process dies between the two
// steps, a repeated request finds the ending in the record and completes the settlement.
func (r *Replayer) end(ctx context.Context, tenant hook.TenantID, id hook.DeliveryID, to ending) (hook.Delivery, error) {
	if errs := hook.ValidateNote(to.note); len(errs) > 0 {
		return hook.Delivery{}, hook.Invalid(errs...)
	}
	var d, before, written hook.Delivery // written: as the last try wrote it; the response may have been lost
	var refused error                    // not returned in Repeat: a refusal has CodeConflict, too
	err := conflict.Repeat(ctx, r.Wait, maxSaveAttempts, func() (err error) {
		if _, d, err = r.findDelivery(ctx, tenant, id); err != nil {
			return err
		}
		if d.State == to.to && d.Reason == hook.ReasonManual {
			if written.Token != "" && d.Token == written.Token {
				r.reportEnded(ctx, before, d)
			}
			return nil
		}
		if refused = to.can(d); refused != nil {
			return nil //nolint:nilerr // final: no further try
		}
		before = d
		// No token made this decision, so the record gets a nonce of its own. By it a later try
		// of this call also recognises its own write.
		d.Token, d.NextAttemptAt, d.UpdatedAt = cmp.Or(to.nonce, hook.NewNonce()), time.Time{}, r.now()
		d.State, d.Reason = to.to, hook.ReasonManual
		d.By, d.Note = to.by, to.note
		written = d
		written.Version++
		if err = r.Store.SaveDelivery(ctx, d, nil); err != nil {
			return fmt.Errorf("save delivery %s: %w", id, err)
		}
		d = written
		r.reportEnded(ctx, before, d)
		return nil
	})
	switch {
	case hook.CodeOf(err) == hook.CodeConflict:
		return hook.Delivery{}, errBusy("delivery " + id.String())
	case err != nil:
		return hook.Delivery{}, err
	case refused != nil:
		return hook.Delivery{}, refused
	}
	return d, r.completeSettled(ctx, d)
}

// reportEnded reports an ending that was written.
func (r *Replayer) reportEnded(ctx context.Context, before, after hook.Delivery) {
	if r.Ended != nil {
		r.Ended(before, after)
	}
	r.Log.LogAttrs(ctx, slog.LevelInfo, "delivery.ended", deliveryAttrs(after, after.By)...)
}

func deliveryAttrs(d hook.Delivery, by hook.KeyID) []slog.Attr {
	return []slog.Attr{
		slog.String(names.LogTenant, string(d.Tenant)),
		slog.String(names.LogEvent, string(d.ID.Event)),
		slog.String(names.LogEndpoint, string(d.ID.Endpoint)),
		slog.String(names.LogDelivery, d.ID.String()),
		slog.String(names.LogState, d.State.String()),
		slog.String(names.LogKey, string(by)),
	}
}
