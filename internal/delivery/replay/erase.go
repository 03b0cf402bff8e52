package replay

import (
	"context"
	"log/slog"
	"sync/atomic"

	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// Erasure is the result of an erasure.
type Erasure struct {
	Event     hook.Event // as erased
	Cancelled int        // deliveries that this call ended
}

// Erase removes the payload of the event and the response bodies of its deliveries. Queued,
// retrying and parked deliveries become cancelled, and no delivery can be replayed any more.
// The event and the deliveries stay. CodeNotFound if the tenant has no such event.
//
// The payload is removed first, and function deliver cancels deliveries without a payload. An
// invocation that has already read the event may still make an attempt, but the record of its
// outcome gets no body. After an error or a crash some bodies may be left: repeating the call
// completes the erasure.
func (r *Replayer) Erase(ctx context.Context, tenant hook.TenantID, id hook.EventID, by hook.KeyID) (Erasure, error) {
	e, err := r.findEvent(ctx, tenant, id)
	if err != nil {
		return Erasure{}, err
	}
	if !e.Erased() {
		e.ErasedAt = r.now()
	}
	if err = r.Store.EraseEvent(ctx, e); err != nil {
		if hook.CodeOf(err) == hook.CodeConflict {
			err = &hook.Error{Code: hook.CodeUnavailable, Message: "the event was replaced meanwhile; try again", Err: err}
		}
		return Erasure{}, err
	}
	// Read again: an endpoint may have been added since the first read. An erased event accepts
	// no further ones.
	if e, err = r.findEvent(ctx, tenant, id); err != nil {
		return Erasure{}, err
	}
	var cancelled atomic.Int64
	err = forEach(len(e.Targets), func(i int) error {
		n, err := r.eraseDeliveries(ctx, hook.QueuedDelivery(e, e.Targets[i]), e, by)
		cancelled.Add(int64(n))
		return err
	})
	r.Log.LogAttrs(ctx, slog.LevelInfo, "event.erased",
		slog.String(names.LogTenant, string(tenant)),
		slog.String(names.LogEvent, string(id)),
		slog.String(names.LogKey, string(by)),
		slog.Int64(names.LogCancelled, cancelled.Load()))
	return Erasure{Event: e, Cancelled: int(cancelled.Load())}, err
}

// eraseDeliveries erases the generations from d on, the oldest first, and returns how many
// deliveries it ended. An erased record accepts no replay, so no further generation appears
// meanwhile.
func (r *Replayer) eraseDeliveries(ctx context.Context, d hook.Delivery, e hook.Event, by hook.KeyID) (ended int, err error) {
	for {
		erased, changed, err := r.eraseDelivery(ctx, d, by)
		if changed {
			ended++
		}
		if err == nil {
			err = r.Store.EraseAttempts(ctx, erased)
		}
		if err == nil && erased.Reason == hook.ReasonErased {
			err = r.completion().End(ctx, erased)
		}
		if err != nil {
			return ended, err
		}
		if erased.Replayed.Generation == 0 {
			return ended, nil
		}
		d = hook.QueuedReplay(e, erased)
	}
}

// eraseDelivery marks one delivery, given as if queued, as erased. ended reports whether this
// call ended the delivery.
func (r *Replayer) eraseDelivery(ctx context.Context, queued hook.Delivery, by hook.KeyID) (d hook.Delivery, ended bool, err error) {
	records := settle.Deliveries(r.Store, r.Wait)
	records.Read = func(ctx context.Context, ref hook.DeliveryRef) (hook.Delivery, error) {
		d, err := r.Store.Delivery(ctx, ref)
		if hook.CodeOf(err) == hook.CodeNotFound {
			return queued, nil
		}
		return d, err
	}
	nonce := hook.NewNonce() // no task makes this decision; it also marks a write whose answer was lost
	_, d, err = records.Update(ctx, queued.Ref(), func(d hook.Delivery) (hook.Delivery, bool, error) {
		if d.Erased {
			return d, false, nil
		}
		ends := !d.State.Settled()
		if d = d.Erase(r.now()); ends {
			d.By, d.DecidedBy = by, nonce
		}
		return d, true, nil
	})
	return d, err == nil && d.DecidedBy == nonce, err
}
