package replay

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"

	"surehook.example/surehook/internal/conflict"
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
	if hook.CodeOf(err) == hook.CodeNotFound {
		return Erasure{}, hook.NotFound("event")
	}
	if err != nil {
		return Erasure{}, err
	}
	if !e.Erased() {
		e.ErasedAt = r.now()
	}
	if err := r.Store.EraseEvent(ctx, e); err != nil {
		if hook.CodeOf(err) == hook.CodeConflict {
			return Erasure{}, errBusy("event " + string(id))
		}
		return Erasure{}, fmt.Errorf("erase payload of event %s: %w", id, err)
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
		if err != nil {
			return ended, err
		}
		if changed {
			ended++
		}
		if err := r.Store.EraseAttempts(ctx, []hook.Delivery{erased}); err != nil {
			return ended, fmt.Errorf("erase attempts of delivery %s: %w", erased.ID, err)
		}
		if erased.Reason == hook.ReasonErased {
			if err := r.completeSettled(ctx, erased); err != nil {
				return ended, err
			}
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
	var written hook.Delivery // as the last try wrote it; the response may have been lost
	err = conflict.Repeat(ctx, r.Wait, maxSaveAttempts, func() error {
		stored, err := r.Store.Delivery(ctx, queued.Ref())
		switch {
		case err == nil:
			d = stored
		case hook.CodeOf(err) == hook.CodeNotFound:
			d = queued
		default:
			return fmt.Errorf("read delivery %s: %w", queued.ID, err)
		}
		if d.Erased {
			ended = ended && d.Token == written.Token
			return nil
		}
		ended = !d.State.Settled()
		if d = d.Erase(r.now()); ended {
			d.By, d.Token = by, hook.NewNonce() // no token made this decision
		}
		written = d
		written.Version++
		if err := r.Store.SaveDelivery(ctx, d, nil); err != nil {
			return fmt.Errorf("erase delivery %s: %w", d.ID, err)
		}
		d = written
		return nil
	})
	if hook.CodeOf(err) == hook.CodeConflict {
		return d, false, errBusy("delivery " + queued.ID.String())
	}
	return d, ended, err
}
