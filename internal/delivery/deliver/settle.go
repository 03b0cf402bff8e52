package deliver

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
	"surehook/internal/rule/settlement"
)

// maxSaveAttempts limits the writes of one decision. Each conflict means that
// another writer succeeded, so 3 attempts tolerate 2 concurrent writers. After the
// third conflict the message fails, and the queue brings the token back.
const maxSaveAttempts = 3

// maxPersistAttempts limits the writes of the decision after an attempt. Without the
// write the next token repeats the request. So the writes go on through conflicts and
// throttles for 2 s on average and 3.8 s at most, within settleReserve.
const maxPersistAttempts = 16

// settleUnattempted settles a delivery without an attempt.
func (d *Deliverer) settleUnattempted(ctx context.Context, s *subject, decision settlement.Decision) (gate.Result, error) {
	written, err := d.settleDelivery(ctx, s, decision)
	if written.own {
		s.Delivery = written.record
	}
	d.logDecided(ctx, s, written.record)
	if written.made && written.record.State == hook.StateDead {
		d.countDead(ctx, s, 1, d.Now())
	}
	return resultOf(s, new(hook.Outcome), written, d.Now()), err
}

// written is how a delivery was settled.
type written struct {
	record *hook.Delivery // the decision, or the record of another that stands
	own    bool           // the record shows this decision, or the decision of a copy of the token
	made   bool           // this process wrote the decision
}

// settleDelivery writes the decision (a) and follows up (b), in the order of the plan, and
// repeats on conflict with the newest record. When another decision stands, it does nothing.
func (d *Deliverer) settleDelivery(ctx context.Context, s *subject, decision settlement.Decision) (written, error) {
	repeat, tries := hook.OnConflict, maxSaveAttempts
	if decision.HasAttempt() {
		repeat, tries = hook.Persist, maxPersistAttempts
	}
	var (
		plan     = decision.On(s, s.Delivery)
		saved    bool
		followed bool
		undone   time.Time // of the death that the decision replaces
		fault    error     // of a follow-up before the write
	)
	err := repeat(ctx, d.Wait, tries, func() error {
		switch plan.Order {
		case settlement.FollowOnly, settlement.Leave:
			return nil
		case settlement.FollowFirst:
			if fault = d.followUp(ctx, s, plan.Record); fault != nil {
				return nil //nolint:nilerr // returned below: a conflict of the follow-up is no conflict of this write
			}
			followed, undone = true, plan.Undone
		case settlement.WriteFirst:
		}
		conflict, err := d.save(ctx, plan)
		if saved = err == nil; conflict != nil {
			plan = decision.On(s, conflict)
		}
		return err
	})
	own := saved || plan.Order == settlement.FollowOnly
	done := written{record: plan.Record, own: own, made: saved || plan.Made}
	if err = cmp.Or(err, fault); err != nil {
		return done, contentionOf(err, s)
	}
	if done.made && !undone.IsZero() {
		d.countDead(ctx, s, -1, undone) // the success counts in its place
	}
	if own && !followed {
		err = d.followUp(ctx, s, done.record)
	}
	return done, err
}

// save writes the plan's record. After a conflict, save returns the newest record with the
// error.
func (d *Deliverer) save(ctx context.Context, plan settlement.Plan) (newest *hook.Delivery, err error) {
	err = d.Store.SaveDelivery(ctx, *plan.Record, plan.Attempt)
	if err == nil {
		return nil, nil //nolint:nilnil // no conflict
	}
	err = fmt.Errorf("save delivery %s: %w", plan.Record.ID, err)
	if hook.CodeOf(err) != hook.CodeConflict {
		return nil, err
	}
	current, readErr := d.Store.Delivery(ctx, plan.Record.Ref())
	if readErr != nil {
		return nil, fmt.Errorf("read delivery %s: %w", plan.Record.ID, readErr)
	}
	return &current, err
}

func contentionOf(err error, s *subject) error {
	if err == nil || hook.CodeOf(err) != hook.CodeConflict {
		return err
	}
	return hook.Conflict(fmt.Sprintf("delivery %s changed in every try of the settlement", s.Token.Delivery))
}

// followUp does the work that follows from the recorded decision (b).
func (d *Deliverer) followUp(ctx context.Context, s *subject, recorded *hook.Delivery) error {
	work := settlement.FollowUpOf(recorded, s.Endpoint)
	if work.Token != nil {
		return d.sendToken(ctx, *work.Token)
	}
	if work.Disable {
		if err := d.disableEndpoint(ctx, recorded); err != nil {
			return err
		}
	}
	if work.Letter {
		if err := d.DeadLetters.Send(ctx, hook.DeadLetterOf(*recorded)); err != nil {
			return fmt.Errorf("send dead letter of delivery %s: %w", recorded.ID, err)
		}
	}
	if work.Complete {
		if err := d.Settlement.Complete(ctx, *recorded); err != nil {
			return fmt.Errorf("complete settlement of delivery %s: %w", recorded.ID, err)
		}
	}
	return nil
}
