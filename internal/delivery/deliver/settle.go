package deliver

import (
	"context"
	"fmt"
	"time"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
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
func (d *Deliverer) settleUnattempted(ctx context.Context, s *subject, decide decision) (gate.Result, error) {
	written, err := d.settleDelivery(ctx, s, decide)
	if written.own {
		s.delivery = written.record
	}
	d.logDecided(ctx, s, written.record)
	if written.made && written.record.State == hook.StateDead {
		d.countDead(ctx, s, 1, d.Now())
	}
	return resultOf(s, new(hook.Outcome), written, d.Now()), err
}

// settleDelivery records the decision (a) and follows up (b). When another decision
// stands, settleDelivery returns the other record, not its own, and does nothing more.
func (d *Deliverer) settleDelivery(ctx context.Context, s *subject, decide decision) (written write, err error) {
	written, err = d.recordDecision(ctx, s, decide)
	if err != nil {
		return written, err
	}
	// Also an own record: a copy of the token may have recorded another outcome.
	if _, _, outweighs := replacement(s, written.record, decide); outweighs {
		written, err = d.replaceRecord(ctx, s, written.record, decide)
	} else if written.own {
		err = d.followUp(ctx, s, written.record)
	}
	return written, err
}

// write is the result of a write of a decision.
type write struct {
	record *hook.Delivery // the decision, or the newest record after a conflict
	own    bool           // the record shows this decision, or the decision of a copy of the token
	made   bool           // this process wrote the decision
}

// recordDecision writes the decision. recordDecision returns early when the
// delivery was parked meanwhile.
func (d *Deliverer) recordDecision(ctx context.Context, s *subject, decide decision) (written write, err error) {
	next, attempt := decide(s.delivery)
	repeat, tries := hook.OnConflict, maxSaveAttempts
	if next.Attempts > s.delivery.Attempts { // the request is made
		repeat, tries = hook.Persist, maxPersistAttempts
	}
	err = repeat(ctx, d.Wait, tries, func() error {
		var err error
		written, err = d.saveDecision(ctx, s, next, attempt)
		if hook.CodeOf(err) != hook.CodeConflict {
			return err
		}
		if parkedMeanwhile(s, written.record) {
			return nil // replaceRecord continues with the record
		}
		next, attempt = decide(written.record)
		return err
	})
	return written, contentionOf(err, s)
}

// saveDecision writes a decision once. CodeConflict when another writer changed the
// delivery, and neither settled the delivery nor recorded the attempt.
func (d *Deliverer) saveDecision(ctx context.Context, s *subject, next *hook.Delivery, attempt *hook.Attempt) (write, error) {
	err := d.Store.SaveDelivery(ctx, *next, attempt)
	if err == nil {
		return write{record: next, own: true, made: true}, nil
	}
	err = fmt.Errorf("save delivery %s: %w", next.ID, err)
	if hook.CodeOf(err) != hook.CodeConflict {
		return write{record: next}, err
	}
	current, readErr := d.Store.Delivery(ctx, next.Ref())
	if readErr != nil {
		return write{record: next}, fmt.Errorf("read delivery %s: %w", next.ID, readErr)
	}
	switch own := current.Token == s.token.Nonce; {
	case current.Attempts >= s.token.Attempt, current.State.Settled():
		// Own: the answer to the write was lost, or a copy of the token decided.
		return write{record: &current, own: own, made: own && sameDecision(&current, next)}, nil
	case own && next.State == hook.StateParked && current.State == hook.StateParked && next.Attempts == current.Attempts:
		return write{record: &current, own: true, made: sameDecision(&current, next)}, nil
	}
	return write{record: &current}, err
}

// sameDecision reports whether the record shows the decision of this process, and not of a
// copy of its token: the two end in one millisecond very seldom.
func sameDecision(record, next *hook.Delivery) bool {
	return record.State == next.State && record.Attempts == next.Attempts && record.UpdatedAt.UnixMilli() == next.UpdatedAt.UnixMilli()
}

func contentionOf(err error, s *subject) error {
	if err == nil || hook.CodeOf(err) != hook.CodeConflict {
		return err
	}
	return hook.Conflict(fmt.Sprintf("delivery %s changed in every try of the settlement", s.token.Delivery))
}

// parkedMeanwhile reports whether the delivery was parked after the token was made,
// and the attempt is not recorded. judgeToken drops a token with such a record, so
// only a conflict during the settlement leads here. A copy of the token may have
// parked the delivery, and the process of the copy may have deleted the message.
func parkedMeanwhile(s *subject, current *hook.Delivery) bool {
	return s.token.Parks < current.Parks && current.Attempts < s.token.Attempt && !current.State.Settled()
}

// replaceRecord replaces the record of another token or of a copy of the token, if
// the decision outweighs the record: replacement has the rules.
//
// Perhaps no message returns with this nonce, so a death between (a) and (b) would lose
// (b). replaceRecord therefore follows up before the write, as the breaker does for
// expired deliveries. After a death between the two steps the record is as before: the
// delivery is parked, its next token exists, or it has a dead letter. The repetition
// is harmless: the breaker removes a needless dead letter, the replay job counts the
// delivery once, and a success counts before a death.
func (d *Deliverer) replaceRecord(ctx context.Context, s *subject, current *hook.Delivery, decide decision) (written write, err error) {
	var unfollowed error
	err = hook.Persist(ctx, d.Wait, maxPersistAttempts, func() error {
		written = write{record: current}
		next, attempt, ok := replacement(s, current, decide)
		if !ok {
			return nil
		}
		if unfollowed = d.followUp(ctx, s, next); unfollowed != nil {
			return nil //nolint:nilerr // returned below: a conflict of the follow-up is no conflict of this write
		}
		var err error
		if written, err = d.saveDecision(ctx, s, next, attempt); err != nil && hook.CodeOf(err) != hook.CodeConflict {
			return err // the record is as before
		}
		if written.made && current.State == hook.StateDead {
			d.countDead(ctx, s, -1, current.UpdatedAt) // the success counts in its place
		}
		current = written.record
		if _, _, again := replacement(s, current, decide); err == nil && again {
			return hook.Conflict("another token recorded a further attempt")
		}
		return err
	})
	if unfollowed != nil {
		return written, unfollowed
	}
	return written, contentionOf(err, s)
}

// replacement returns the decision in place of the record of another token. ok is
// false when the record must stay:
//
//   - A decision without an attempt adds nothing: the breaker ends and cancels parked
//     deliveries.
//   - Of two tokens of an attempt, an answer 2xx counts more than a recorded failure,
//     also after further attempts and after the death. Every other outcome adds
//     nothing to a recorded attempt. A delivery cancelled, discarded or replayed by a
//     person stays so.
//   - Over a park, a failed attempt must not send the next token before the write,
//     because the token could arrive before the write and be dropped. So the attempt
//     is recorded, the delivery stays parked, and the breaker sends the next token.
//     After a release the record stays, and the token of the release repeats the
//     attempt.
func replacement(s *subject, current *hook.Delivery, decide decision) (next *hook.Delivery, attempt *hook.Attempt, ok bool) {
	died := current.State == hook.StateDead && current.Replayed.Generation == 0
	if current.State.Settled() && !died {
		return current, nil, false
	}
	next, attempt = decide(current)
	switch {
	case died, current.Attempts >= s.token.Attempt:
		if current.Attempts >= s.token.Attempt {
			next.Attempts, attempt = current.Attempts, nil // the record of the attempt stays
		}
		return next, attempt, next.State == hook.StateDelivered
	case next.Attempts == current.Attempts:
		return current, nil, false
	case next.State != hook.StateRetrying:
		return next, attempt, true
	case current.State != hook.StateParked:
		return current, nil, false
	}
	next.State, next.Reason, next.NextAttemptAt = current.State, current.Reason, time.Time{}
	attempt.NextAttemptAt = time.Time{}
	return next, attempt, true
}

// followUp does the work that follows from the recorded decision (b). Repeated
// calls are harmless: a second token of the same attempt finds the attempt
// recorded, and the breaker reconciles dead letters with the records.
func (d *Deliverer) followUp(ctx context.Context, s *subject, recorded *hook.Delivery) error {
	switch recorded.State {
	case hook.StateRetrying:
		lane, at := s.endpoint.LaneAt(hook.LaneRetry, recorded.NextAttemptAt)
		return d.sendToken(ctx, lane, recorded.NextToken(), at)
	case hook.StateDelivered, hook.StateCancelled, hook.StateDiscarded:
		// Discarded: the delivery died, and a replay settled before this token came back.
		return d.completeSettlement(ctx, recorded)
	case hook.StateDead:
		if recorded.Reason == hook.ReasonGone {
			if err := d.disableEndpoint(ctx, recorded); err != nil {
				return err
			}
		}
		if err := d.DeadLetters.Send(ctx, hook.DeadLetterOf(*recorded)); err != nil {
			return fmt.Errorf("send dead letter of delivery %s: %w", recorded.ID, err)
		}
		return d.completeSettlement(ctx, recorded)
	case hook.StateQueued, hook.StateParked:
		return nil
	}
	return nil
}

func (d *Deliverer) completeSettlement(ctx context.Context, recorded *hook.Delivery) error {
	if err := d.Settlement.Complete(ctx, *recorded); err != nil {
		return fmt.Errorf("complete settlement of delivery %s: %w", recorded.ID, err)
	}
	return nil
}
