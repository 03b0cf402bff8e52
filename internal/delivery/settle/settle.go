// Package settle is what follows when a delivery settles, whoever settled
// it: the dead delivery that it replayed is an open dead letter no more, the job
// that it belongs to counts it, and its owner hears of its death.
//
// All of it may be done twice. It knows nothing of attempts, of queues or of tables.
package settle

import (
	"context"
	"fmt"
	"strings"

	"surehook/internal/hook"
)

// retireTries bounds how often a record is written again after someone else wrote it.
const retireTries = 3

// Store keeps deliveries and the counts of replay jobs.
type Store interface {
	DeliveryStore
	OutcomeRecorder
}

// Settlement does what follows.
type Settlement struct {
	Store    Store
	Notifier Notifier // nil where no delivery dies
}

// Complete does what follows from the settled delivery, as it is recorded. One
// whose place was taken in the midst of things settles nothing but itself: when
// its successor settles, that stands for all before it.
func (a Settlement) Complete(ctx context.Context, d hook.Delivery) error {
	if err := a.tally(ctx, d); err != nil || d.Superseded() {
		return err
	}
	if err := a.tell(ctx, d); err != nil {
		return err
	}
	before, ok := d.ID.Predecessor()
	for ok {
		replayed, err := a.retire(ctx, before)
		if err != nil || !replayed.Superseded() {
			return err
		}
		// Whoever took its place may have died before it was counted.
		if err := a.tally(ctx, replayed); err != nil {
			return err
		}
		before, ok = before.Predecessor()
	}
	return nil
}

// tell says that the delivery is dead. Nothing is said about the delivery of
// what is said.
func (a Settlement) tell(ctx context.Context, d hook.Delivery) error {
	if d.State != hook.StateDead || a.Notifier == nil || strings.HasPrefix(d.EventType, hook.SystemPrefix) {
		return nil
	}
	n := hook.Notification{
		Type: hook.NotificationDead, Tenant: d.Tenant, Endpoint: d.ID.Endpoint, Delivery: d.ID, At: d.UpdatedAt,
		Reason:  fmt.Sprintf("the delivery of an event %s is dead: %s", d.EventType, d.Reason),
		Figures: map[string]float64{"attempts": float64(d.Attempts), "last_status": float64(d.Last.Status)},
		Key:     hook.NotificationDead + "/" + d.ID.String(),
	}
	if err := a.Notifier.Notify(ctx, n); err != nil {
		return fmt.Errorf("tell that delivery %s is dead: %w", d.ID, err)
	}
	return nil
}

func (a Settlement) tally(ctx context.Context, d hook.Delivery) error {
	if d.Job == "" {
		return nil
	}
	if err := a.Store.RecordOutcome(ctx, d); err != nil {
		return fmt.Errorf("count delivery %s for job %s: %w", d.ID, d.Job, err)
	}
	return nil
}

// retire returns the record as it is then, the zero Delivery if there is none.
func (a Settlement) retire(ctx context.Context, id hook.DeliveryID) (hook.Delivery, error) {
	for range retireTries {
		d, err := a.Store.Delivery(ctx, id)
		if hook.CodeOf(err) == hook.CodeNotFound {
			return hook.Delivery{}, nil
		}
		if err != nil {
			return hook.Delivery{}, fmt.Errorf("read delivery %s: %w", id, err)
		}
		retired, ok := d.Retire()
		if !ok {
			return d, nil
		}
		err = a.Store.SaveDelivery(ctx, retired, nil)
		if err == nil {
			return retired, nil
		}
		if hook.CodeOf(err) != hook.CodeConflict {
			return hook.Delivery{}, fmt.Errorf("retire delivery %s: %w", id, err)
		}
	}
	return hook.Delivery{}, hook.Conflict(fmt.Sprintf("delivery %s changed %d times while it was retired", id, retireTries))
}
