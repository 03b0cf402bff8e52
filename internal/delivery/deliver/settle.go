package deliver

import (
	"context"
	"fmt"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
)

// maxSaveAttempts limits the writes of one decision. Each conflict means that
// another writer succeeded, so 3 attempts tolerate 2 concurrent writers. After the
// third conflict the message fails, and the queue brings the token back.
const maxSaveAttempts = 3

// settleUnattempted settles a delivery without an attempt.
func (d *Deliverer) settleUnattempted(ctx context.Context, s *subject, decide decision) (gate.Result, error) {
	recorded, err := d.settleDelivery(ctx, s, decide)
	d.logDecided(ctx, s, recorded)
	if recorded.State == hook.StateDead {
		d.countDead(ctx, s)
	}
	return resultOf(s, hook.Outcome{}, recorded, d.Now()), err
}

// settleDelivery records the decision (a) and follows up (b). When another writer
// settled the delivery or recorded the attempt first, settleDelivery returns the
// other writer's record and does nothing more.
func (d *Deliverer) settleDelivery(ctx context.Context, s *subject, decide decision) (hook.Delivery, error) {
	recorded, own, err := d.recordDecision(ctx, s, decide)
	if err != nil || !own {
		return recorded, err
	}
	return recorded, d.followUp(ctx, recorded)
}

// recordDecision writes the decision. own is false when another writer's decision
// stands.
func (d *Deliverer) recordDecision(ctx context.Context, s *subject, decide decision) (recorded hook.Delivery, own bool, err error) {
	current := s.delivery
	err = hook.OnConflict(ctx, maxSaveAttempts, func() error {
		next, attempt := decide(current)
		recorded = next
		saveErr := d.Store.SaveDelivery(ctx, next, attempt)
		if saveErr == nil {
			own = true
			return nil
		}
		saveErr = fmt.Errorf("save delivery %s: %w", next.ID, saveErr)
		if hook.CodeOf(saveErr) != hook.CodeConflict {
			return saveErr
		}
		var err error
		if current, err = d.Store.Delivery(ctx, next.ID); err != nil {
			return fmt.Errorf("read delivery %s: %w", next.ID, err)
		}
		recorded = current
		own = current.Token == s.token.Nonce // an own write whose answer was lost
		if own || current.Attempts >= s.token.Attempt || current.State.Settled() {
			return nil
		}
		return saveErr
	})
	if err != nil && hook.CodeOf(err) == hook.CodeConflict {
		err = hook.Conflict(fmt.Sprintf("delivery %s changed %d times during settlement", recorded.ID, maxSaveAttempts))
	}
	return recorded, own, err
}

// followUp does the work that follows from the recorded decision (b). Repeated
// calls are harmless: a second token of the same attempt finds the attempt
// recorded, each schedule has one name, and the breaker reconciles dead letters
// with the records.
func (d *Deliverer) followUp(ctx context.Context, recorded hook.Delivery) error {
	switch recorded.State {
	case hook.StateRetrying:
		return d.sendToken(ctx, hook.NewToken(recorded.Tenant, recorded.ID, recorded.Attempts+1), recorded.NextAttemptAt)
	case hook.StateDelivered, hook.StateCancelled, hook.StateDiscarded:
		// Discarded: the delivery died, and a replay settled before this token came back.
		return d.completeSettlement(ctx, recorded)
	case hook.StateDead:
		if recorded.Reason == hook.ReasonGone {
			if err := d.disableEndpoint(ctx, recorded); err != nil {
				return err
			}
		}
		if err := d.DeadLetters.Send(ctx, hook.DeadLetterOf(recorded)); err != nil {
			return fmt.Errorf("send dead letter of delivery %s: %w", recorded.ID, err)
		}
		return d.completeSettlement(ctx, recorded)
	case hook.StateQueued, hook.StateParked:
		return nil
	}
	return nil
}

func (d *Deliverer) completeSettlement(ctx context.Context, recorded hook.Delivery) error {
	if err := d.Settlement.Complete(ctx, recorded); err != nil {
		return fmt.Errorf("complete settlement of delivery %s: %w", recorded.ID, err)
	}
	return nil
}
