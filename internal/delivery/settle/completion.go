package settle

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"surehook/internal/conflict"
	"surehook/internal/hook"
	"surehook/internal/rule/stats"
)

// maxSaveAttempts limits the writes of one change. Each conflict means that another writer
// succeeded, so 3 attempts tolerate 2 concurrent writers. After the third conflict of a
// decision the message fails, and the queue brings the token back.
const maxSaveAttempts = 3

// Store keeps deliveries, endpoints, the counts of replay jobs and the counts of endpoints.
type Store interface {
	DeliveryStore
	EndpointDisabler
	OutcomeRecorder
	Counter
}

// Completion completes settled deliveries.
type Completion struct {
	Store    Store
	Notifier Notifier      // nil: no delivery dies in this process
	Log      *slog.Logger  // set with Notifier
	Wait     conflict.Wait // between two tries of a write; nil: by the real clock
}

var _ Completer = Completion{}

// Complete does the work that follows from the settled delivery, as recorded. A
// delivery cancelled by its replay updates only its own job count: the successor's settlement
// completes all generations before the successor.
//
// The notification comes last: a topic without an answer must not use up the time of
// the settlement. A failed notification is logged and fails nothing. A crash or an
// error before the notification repeats Complete, so the owner is notified at least
// once if the notifier works.
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

// retirePredecessors retires the newest predecessor with an outcome of its own, and
// counts the generations cancelled by their replays after that predecessor.
func (s Completion) retirePredecessors(ctx context.Context, d hook.Delivery) error {
	before, ok := d.Ref().Predecessor()
	for ok {
		replayed, err := s.retire(ctx, before, d.UpdatedAt)
		if err != nil || !replayed.CancelledByReplay() {
			return err
		}
		// The process that cancelled the delivery may have died before the count.
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

// retire discards a dead delivery after the settlement of its replay at the time
// settledAt, and returns the record; without a record, the zero Delivery.
func (s Completion) retire(ctx context.Context, ref hook.DeliveryRef, settledAt time.Time) (record hook.Delivery, err error) {
	var died bool
	err = conflict.Repeat(ctx, s.Wait, maxSaveAttempts, func() error {
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
		record, died = retired, ok
		return nil
	})
	if err != nil && hook.CodeOf(err) == hook.CodeConflict {
		// No conflict: a caller of the API would take it for the refusal of a cancellation that is made.
		return hook.Delivery{}, &hook.Error{
			Code: hook.CodeUnavailable, Message: fmt.Sprintf("delivery %s changed %d times before the retirement; try again", ref, maxSaveAttempts),
		}
	}
	if err == nil && died && settledAt.Sub(record.UpdatedAt) < stats.Kept {
		err = s.uncountDead(ctx, record)
	}
	return record, err
}

// uncountDead takes the death back from the hour of the death: the settled replay
// counts in its place. The call follows the write, so no repetition takes a death
// back twice. After a crash or an error between the two, the death stays in the
// counts of its hour; the next Complete does not count again.
func (s Completion) uncountDead(ctx context.Context, d hook.Delivery) error {
	if _, err := s.Store.Count(ctx, d.Tenant, d.ID.Endpoint, stats.Deaths(d.EventType, -1), d.UpdatedAt); err != nil {
		return fmt.Errorf("take back the death of delivery %s: %w", d.ID, err)
	}
	return nil
}
