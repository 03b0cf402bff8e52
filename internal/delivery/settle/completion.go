package settle

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/stats"
	"surehook.example/surehook/internal/store"
)

// Store keeps deliveries, endpoints, the counts of replay jobs and the counts of endpoints.
type Store interface {
	OrderStore
	EndpointDisabler
	OutcomeRecorder
	Counter
}

// Completion completes settled deliveries.
type Completion struct {
	Store    Store
	Notifier Notifier     // nil: dead deliveries are not reported
	Log      *slog.Logger // set with Notifier
	Wait     store.Wait   // between two tries of a write; nil: by the real clock
}

var _ Completer = Completion{}

// Complete does the work that follows from the settled delivery, as recorded. A delivery that
// was cancelled by its replay is only counted for its own job: when the replay settles, that
// completes all generations before it.
//
// The notification comes last, so that a topic that does not respond cannot use up the time of
// the settlement. If the notification fails, this is only logged. After a crash before the
// notification Complete is repeated, so the owner is notified at least once if the notifier
// works.
func (s Completion) Complete(ctx context.Context, d hook.Delivery) error {
	if err := s.recordOutcome(ctx, d); err != nil || d.CancelledByReplay() {
		return err
	}
	if err := s.retirePredecessors(ctx, d); err != nil {
		return err
	}
	s.notifyDead(ctx, d)
	return nil
}

// retirePredecessors retires the newest earlier generation that was not cancelled by its
// replay, and counts the cancelled ones between.
func (s Completion) retirePredecessors(ctx context.Context, d hook.Delivery) error {
	before, ok := d.Ref().Predecessor()
	for ok {
		replayed, err := s.retire(ctx, before, d.UpdatedAt)
		if err != nil || !replayed.CancelledByReplay() {
			return err
		}
		// The process that cancelled the delivery may have died before it counted it.
		if err := s.recordOutcome(ctx, replayed); err != nil {
			return err
		}
		before, ok = before.Predecessor()
	}
	return nil
}

// recordOutcome counts the delivery for the delivery's job.
func (s Completion) recordOutcome(ctx context.Context, d hook.Delivery) error {
	if d.Job == "" {
		return nil
	}
	if err := s.Store.RecordOutcome(ctx, d); err != nil {
		return fmt.Errorf("count delivery %s for job %s: %w", d.ID, d.Job, err)
	}
	return nil
}

// retire discards a dead delivery after its replay settled at settledAt, and returns the
// record; the zero Delivery if there is none.
func (s Completion) retire(ctx context.Context, ref hook.DeliveryRef, settledAt time.Time) (record hook.Delivery, err error) {
	before, record, err := Deliveries(s.Store, s.Wait).Update(ctx, ref, func(d hook.Delivery) (hook.Delivery, bool, error) {
		retired, ok := d.Retire()
		return retired, ok, nil
	})
	if hook.CodeOf(err) == hook.CodeNotFound {
		return hook.Delivery{}, nil
	}
	if err == nil && record.Version != before.Version && settledAt.Sub(record.UpdatedAt) < stats.Kept {
		err = s.uncountDead(ctx, record)
	}
	return record, err
}

// uncountDead removes the death from the counts of its hour, because the settled replay counts
// instead. It follows the write, so that a repetition does not remove a death twice. After a
// crash or an error between the two, the death stays in the counts of its hour, because the
// next Complete does not remove it again.
func (s Completion) uncountDead(ctx context.Context, d hook.Delivery) error {
	if _, err := s.Store.Count(ctx, d.Tenant, d.ID.Endpoint, stats.Deaths(d.EventType, -1), d.UpdatedAt); err != nil {
		return fmt.Errorf("take back the death of delivery %s: %w", d.ID, err)
	}
	return nil
}
