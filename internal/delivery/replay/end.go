package replay

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"surehook/internal/hook"
	"surehook/internal/names"
)

// Discard ends a dead delivery: somebody decided to leave it so, and it is an
// open dead letter no more. The note says why. CodeConflict if it is not dead;
// one that was discarded by hand already is returned as it is.
func (r *Replayer) Discard(ctx context.Context, tenant hook.TenantID, id hook.DeliveryID, by hook.KeyID, note string) (hook.Delivery, error) {
	return r.end(ctx, tenant, id, ending{
		to: hook.StateDiscarded, by: by, note: note,
		can:  func(s hook.State) bool { return s == hook.StateDead },
		rule: "only a dead delivery can be discarded",
	})
}

// Cancel ends a delivery that is queued, retrying or parked. An attempt that is
// under way may still reach the endpoint. CodeConflict if it is settled; one
// that was cancelled by hand already is returned as it is.
func (r *Replayer) Cancel(ctx context.Context, tenant hook.TenantID, id hook.DeliveryID, by hook.KeyID, note string) (hook.Delivery, error) {
	return r.end(ctx, tenant, id, ending{
		to: hook.StateCancelled, by: by, note: note,
		can:  func(s hook.State) bool { return !s.Settled() },
		rule: "only a delivery that is queued, retrying or parked can be cancelled",
	})
}

// ending is how a delivery is to be ended by hand.
type ending struct {
	to   hook.State
	by   hook.KeyID
	note string
	can  func(hook.State) bool
	rule string // that can holds to, for people
}

// end writes the ending and then does what follows from it. If the process dies
// between the two, whoever asks again finds it written and does the rest.
func (r *Replayer) end(ctx context.Context, tenant hook.TenantID, id hook.DeliveryID, to ending) (hook.Delivery, error) {
	if errs := hook.ValidateNote(to.note); len(errs) > 0 {
		return hook.Delivery{}, hook.Invalid(errs...)
	}
	for range saveTries {
		_, d, err := r.delivery(ctx, tenant, id)
		if err != nil {
			return hook.Delivery{}, err
		}
		if d.State == to.to && d.Reason == hook.ReasonManual {
			return d, r.settled(ctx, d)
		}
		if !to.can(d.State) {
			return hook.Delivery{}, hook.Conflict(fmt.Sprintf("it is %s: %s", d.State, to.rule))
		}
		// No token made this decision, so none may take it for its own.
		d.Token, d.NextAttemptAt, d.UpdatedAt = "", time.Time{}, r.now()
		d.State, d.Reason = to.to, hook.ReasonManual
		d.By, d.Note = to.by, to.note
		err = r.Store.SaveDelivery(ctx, d, nil)
		if hook.CodeOf(err) == hook.CodeConflict {
			continue // it moved on: judge it again
		}
		if err != nil {
			return hook.Delivery{}, fmt.Errorf("save delivery %s: %w", id, err)
		}
		d.Version++
		r.Log.LogAttrs(ctx, slog.LevelInfo, "delivery.ended", endAttrs(d, to.by)...)
		return d, r.settled(ctx, d)
	}
	return hook.Delivery{}, busy("delivery " + id.String())
}

func endAttrs(d hook.Delivery, by hook.KeyID) []slog.Attr {
	return []slog.Attr{
		slog.String(names.LogTenant, string(d.Tenant)),
		slog.String(names.LogEvent, string(d.ID.Event)),
		slog.String(names.LogEndpoint, string(d.ID.Endpoint)),
		slog.String(names.LogDelivery, d.ID.String()),
		slog.String(names.LogState, d.State.String()),
		slog.String(names.LogKey, string(by)),
	}
}
