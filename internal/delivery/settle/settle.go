package settle

import (
	"context"
	"fmt"
	"log/slog"

	"surehook/internal/hook"
)

// maxSaveAttempts limits the writes of a retirement. Each conflict means that
// another writer succeeded, so 3 attempts tolerate 2 concurrent writers.
const maxSaveAttempts = 3

// Store keeps deliveries and the counts of replay jobs.
type Store interface {
	DeliveryStore
	OutcomeRecorder
}

// Settlement completes settled deliveries.
type Settlement struct {
	Store    Store
	Notifier Notifier     // nil: no delivery dies in this process
	Log      *slog.Logger // set with Notifier
	Wait     hook.Wait    // between two tries of a write; nil: by the real clock
}

var _ Completer = Settlement{}

// Complete does the work that follows from the settled delivery, as recorded. A
// superseded delivery updates only its own job count: the successor's settlement
// completes all generations before the successor.
//
// The notification comes last: a topic without an answer must not use up the time of
// the settlement. A failed notification is logged and fails nothing. A crash or an
// error before the notification repeats Complete, so the owner is notified at least
// once if the notifier works.
func (s Settlement) Complete(ctx context.Context, d hook.Delivery) error {
	if err := s.recordOutcome(ctx, d); err != nil || d.Superseded() {
		return err
	}
	if err := s.retirePredecessors(ctx, d); err != nil {
		return err
	}
	s.notifyDead(ctx, d)
	return nil
}

// retirePredecessors retires the newest predecessor with an outcome of its own, and
// counts the superseded generations after that predecessor.
func (s Settlement) retirePredecessors(ctx context.Context, d hook.Delivery) error {
	before, ok := d.Ref().Predecessor()
	for ok {
		replayed, err := s.retire(ctx, before)
		if err != nil || !replayed.Superseded() {
			return err
		}
		// The process that superseded the delivery may have died before the count.
		if err := s.recordOutcome(ctx, replayed); err != nil {
			return err
		}
		before, ok = before.Predecessor()
	}
	return nil
}

// recordOutcome counts the delivery for the delivery's job.
func (s Settlement) recordOutcome(ctx context.Context, d hook.Delivery) error {
	if d.Job == "" {
		return nil
	}
	if err := s.Store.RecordOutcome(ctx, d); err != nil {
		return fmt.Errorf("count delivery %s for job %s: %w", d.ID, d.Job, err)
	}
	return nil
}

// retire discards a dead delivery after the settlement of its replay, and returns
// the record; without a record, the zero Delivery.
func (s Settlement) retire(ctx context.Context, ref hook.DeliveryRef) (record hook.Delivery, err error) {
	err = hook.OnConflict(ctx, s.Wait, maxSaveAttempts, func() error {
		d, err := s.Store.Delivery(ctx, ref)
		if hook.CodeOf(err) == hook.CodeNotFound {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read delivery %s: %w", ref, err)
		}
		retired, ok := d.Retire()
		if ok {
			if err := s.Store.SaveDelivery(ctx, retired, nil); err != nil {
				return fmt.Errorf("retire delivery %s: %w", ref, err)
			}
		}
		record = retired
		return nil
	})
	if err != nil && hook.CodeOf(err) == hook.CodeConflict {
		return hook.Delivery{}, hook.Conflict(fmt.Sprintf("delivery %s changed %d times before the retirement", ref, maxSaveAttempts))
	}
	return record, err
}
