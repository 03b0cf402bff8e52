package settle

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
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

// Completion completes the end of a delivery, in every function that ends deliveries: see the table in the
// package documentation.
type Completion struct {
	Store       Store
	Queue       TaskQueue
	DeadLetters DeadLetters // nil where no delivery dies
	Notifier    Notifier    // nil where no delivery dies
	Log         *slog.Logger
	Now         func() time.Time
	Wait        store.Wait // between two tries of a write; nil: by the real clock
}

// End does all the work that follows from the end of a delivery, as recorded. A delivery that has not
// ended is left alone.
func (c Completion) End(ctx context.Context, d hook.Delivery) error {
	if !d.State.Settled() {
		return nil
	}
	if err := c.Complete(ctx, d); err != nil {
		return err
	}
	return c.orders().Ended(ctx, d)
}

// Complete does the work that may come before the end is recorded. If another decision is recorded then, such as
// the success of an attempt in flight, the owner was told of a death that never was; everything else is
// taken back: the letter by the breaker, the count by the success. A delivery that was cancelled by
// its replay is only counted for its own job: when the replay settles, that completes all
// generations before it.
//
// The notification comes last, so that a topic that does not respond cannot use up the time of
// the settlement. If the notification fails, this is only logged. After a crash before the
// notification Complete is repeated, so the owner is notified at least once if the notifier
// works, unless somebody discards the delivery in between.
func (c Completion) Complete(ctx context.Context, d hook.Delivery) error {
	if d.State == hook.StateDead {
		if d.Reason == hook.ReasonGone && !d.ID.Event.IsTest() {
			if err := c.disableEndpoint(ctx, d); err != nil {
				return err
			}
		}
		if err := c.SendLetter(ctx, &d); err != nil {
			return err
		}
	}
	if err := c.recordOutcome(ctx, d); err != nil || d.CancelledByReplay() {
		return err
	}
	if err := c.retirePredecessors(ctx, d); err != nil {
		return fmt.Errorf("retire the generations before %s: %w", d.ID, err)
	}
	c.notifyDead(ctx, d)
	return nil
}

// SendLetter sends the dead letter of a dead delivery.
func (c Completion) SendLetter(ctx context.Context, dead *hook.Delivery) error {
	if err := c.DeadLetters.Send(ctx, hook.DeadLetterOf(*dead)); err != nil {
		return fmt.Errorf("send dead letter of delivery %s: %w", dead.ID, err)
	}
	return nil
}

// retirePredecessors retires the newest earlier generation that was not cancelled by its
// replay, and counts the cancelled ones between.
func (c Completion) retirePredecessors(ctx context.Context, d hook.Delivery) error {
	before, ok := d.Ref().Predecessor()
	for ok {
		replayed, err := c.retire(ctx, before, d.UpdatedAt)
		if err != nil || !replayed.CancelledByReplay() {
			return err
		}
		// The process that cancelled the delivery may have died before it counted it.
		if err := c.recordOutcome(ctx, replayed); err != nil {
			return err
		}
		before, ok = before.Predecessor()
	}
	return nil
}

// recordOutcome counts the delivery for the delivery's job.
func (c Completion) recordOutcome(ctx context.Context, d hook.Delivery) error {
	if d.Job == "" {
		return nil
	}
	if err := c.Store.RecordOutcome(ctx, d); err != nil {
		return fmt.Errorf("count delivery %s for job %s: %w", d.ID, d.Job, err)
	}
	return nil
}

// retire discards a dead delivery after its replay settled at settledAt, and returns the
// record; the zero Delivery if there is none. The replay then counts instead of the death, which is
// taken back after the write, so that a repetition does not take it back twice.
func (c Completion) retire(ctx context.Context, ref hook.DeliveryRef, settledAt time.Time) (record hook.Delivery, err error) {
	before, record, err := Deliveries(c.Store, c.Wait).Update(ctx, ref, func(d hook.Delivery) (hook.Delivery, bool, error) {
		retired, ok := d.Retire()
		return retired, ok, nil
	})
	if hook.CodeOf(err) == hook.CodeNotFound {
		return hook.Delivery{}, nil
	}
	if err == nil && record.Version != before.Version && settledAt.Sub(record.UpdatedAt) < stats.Kept {
		c.CountDead(ctx, record.Tenant, record.ID.Endpoint, stats.Deaths(record.EventType, -1), record.UpdatedAt)
	}
	return record, err
}

// CountDead adds deaths to the counts of the endpoint, or takes them back: of the ends that the gate does not
// count. It follows the write of the end, and nobody repeats it: after a crash, or an error, which is
// only logged, the counts are wrong. No decision about a delivery depends on them.
func (c Completion) CountDead(ctx context.Context, tenant hook.TenantID, endpoint hook.EndpointID, deaths *stats.Counts, at time.Time) {
	if _, err := c.Store.Count(ctx, tenant, endpoint, deaths, at); err != nil {
		c.Log.ErrorContext(ctx, "dead_count.failed", slog.String(names.LogEndpoint, string(endpoint)), slog.Any(names.LogError, err))
	}
}

func (c Completion) orders() Orders { return Orders{c.Store, c.Queue, c.Now, c.Wait} }
