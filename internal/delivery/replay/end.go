package replay

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// Discard discards a dead delivery, which is then no longer an open dead letter. note is the
// caller's reason. If the delivery was already discarded by hand, it is returned unchanged. Any
// other state than dead gives CodeConflict.
func (r *Replayer) Discard(ctx context.Context, tenant hook.TenantID, id hook.DeliveryID, by hook.KeyID, note string) (hook.Delivery, error) {
	return r.endByHand(ctx, tenant, id, ending{to: hook.StateDiscarded, by: by, note: note, can: discardable})
}

// Cancel cancels a queued, retrying or parked delivery. An attempt in flight may still reach
// the endpoint. If the delivery was already cancelled by hand, it is returned unchanged. Any
// other settled delivery gives CodeConflict.
func (r *Replayer) Cancel(ctx context.Context, tenant hook.TenantID, id hook.DeliveryID, by hook.KeyID, note string) (hook.Delivery, error) {
	return r.endByHand(ctx, tenant, id, ending{to: hook.StateCancelled, by: by, note: note, can: func(d hook.Delivery) error {
		if d.State.Settled() {
			return hook.Conflict(fmt.Sprintf("it is %s: only a delivery that is queued, retrying or parked can be cancelled", d.State))
		}
		return nil
	}})
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

// endByHand ends the tenant's delivery with the id.
func (r *Replayer) endByHand(ctx context.Context, tenant hook.TenantID, id hook.DeliveryID, to ending) (hook.Delivery, error) {
	if errs := hook.ValidateNote(to.note); len(errs) > 0 {
		return hook.Delivery{}, hook.Invalid(errs...)
	}
	_, d, err := r.findDelivery(ctx, tenant, id)
	if err != nil {
		return hook.Delivery{}, err
	}
	return r.end(ctx, d, to)
}

// end saves the ending of the delivery, as read before, and then completes the settlement. If the
// process dies between the two steps, a repeated request finds the ending in the record and completes
// the settlement.
func (r *Replayer) end(ctx context.Context, read hook.Delivery, to ending) (hook.Delivery, error) {
	// No task makes this decision, so the record gets a nonce of its own. It also marks a write whose
	// answer was lost.
	nonce := cmp.Or(to.nonce, hook.NewNonce())
	var was *hook.Delivery // before the last write
	_, d, err := settle.Deliveries(r.Store, r.Wait).UpdateFrom(ctx, read, read.Ref(), func(d hook.Delivery) (hook.Delivery, bool, error) {
		if d.State == to.to && d.Reason == hook.ReasonManual {
			return d, false, nil
		}
		if refused := to.can(d); refused != nil {
			return d, false, refused
		}
		was = new(d)
		d.DecidedBy, d.NextAttemptAt, d.UpdatedAt = nonce, time.Time{}, r.now()
		d.State, d.Reason = to.to, hook.ReasonManual
		d.By, d.Note = to.by, to.note
		return d, true, nil
	})
	if err != nil {
		return hook.Delivery{}, err
	}
	if was != nil && d.DecidedBy == nonce {
		if r.Ended != nil {
			r.Ended(*was, d)
		}
		r.Log.LogAttrs(ctx, slog.LevelInfo, "delivery.ended", deliveryAttrs(d, d.By)...)
	}
	return d, r.completion().End(ctx, d)
}

// completion completes what people and jobs end. Nothing of it dies.
func (r *Replayer) completion() settle.Completion {
	return settle.Completion{Store: r.Store, Queue: r.Queue, Log: r.Log, Now: r.Now, Wait: r.Wait}
}

func deliveryAttrs(d hook.Delivery, by hook.KeyID) []slog.Attr {
	return append(settle.Attrs(d), slog.String(names.LogState, d.State.String()), slog.String(names.LogKey, string(by)))
}
