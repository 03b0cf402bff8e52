package deliver

import (
	"context"
	"fmt"
	"time"

	"surehook/internal/hook"
	"surehook/internal/rule/retry"
)

// settleTries bounds how often an outcome is written again after someone else
// wrote the record.
const settleTries = 3

// decision turns the newest record into the one to be written, with the
// attempt to be written beside it, or nil. It may be asked again after a conflict.
type decision func(current hook.Delivery) (hook.Delivery, *hook.Attempt)

// attemptOutcome is the decision after an attempt with the outcome o.
func attemptOutcome(s *subject, o hook.Outcome, started, now time.Time) decision {
	return func(d hook.Delivery) (hook.Delivery, *hook.Attempt) {
		d.Attempts = s.token.Attempt
		d.Token = s.token.Nonce
		d.UpdatedAt = now
		d.NextAttemptAt = time.Time{}
		d.Last = o
		d.Last.Body = o.Body[:min(len(o.Body), hook.MaxLastBody)]
		d.State, d.Reason = hook.StateDead, hook.ReasonNone
		switch o.Class.Result() {
		case hook.ResultDelivered:
			d.State = hook.StateDelivered
		case hook.ResultRejected:
			d.Reason = hook.ReasonRejected
			if o.Class == hook.ClassGone {
				d.Reason = hook.ReasonGone
			}
		case hook.ResultTransient:
			d.State, d.Reason, d.NextAttemptAt = afterFailure(d, *s.endpoint, o.RetryAfter, now)
		}
		if d.State == hook.StateDelivered && d.Attempts == 1 {
			return d, nil
		}
		return d, &hook.Attempt{
			Delivery:      d.ID,
			Number:        d.Attempts,
			Trigger:       hook.TriggerOf(d.ID, d.Attempts),
			StartedAt:     started,
			NextAttemptAt: d.NextAttemptAt,
			ExpiresAt:     d.ExpiresAt,
			Outcome:       o,
		}
	}
}

// afterFailure plans the next attempt. A delivery that would be past its
// max_age by then is dead now: its owner need not wait to hear of it.
func afterFailure(d hook.Delivery, e hook.Endpoint, retryAfter time.Duration, now time.Time) (hook.State, hook.Reason, time.Time) {
	delay, ok := retry.Next(e.Retry, d.ID, d.Attempts, retryAfter)
	if !ok {
		return hook.StateDead, hook.ReasonExhausted, time.Time{}
	}
	next := now.Add(delay)
	if retry.Expired(d.CreatedAt, next, e.MaxAge) {
		return hook.StateDead, hook.ReasonExpired, time.Time{}
	}
	return hook.StateRetrying, hook.ReasonNone, next
}

// settleAs is the decision that needs no attempt: expired, parked or cancelled.
func settleAs(s *subject, state hook.State, reason hook.Reason, now time.Time) decision {
	return func(d hook.Delivery) (hook.Delivery, *hook.Attempt) {
		d.State, d.Reason = state, reason
		d.Token = s.token.Nonce
		d.UpdatedAt = now
		d.NextAttemptAt = time.Time{}
		return d, nil
	}
}

// settleDelivery records the decision (a) and does what follows from it (b). When the
// record was settled by someone else meanwhile, theirs stands.
func (d *Deliverer) settleDelivery(ctx context.Context, s *subject, decide decision) (hook.Delivery, error) {
	current := s.delivery
	for range settleTries {
		next, attempt := decide(current)
		err := d.Store.SaveDelivery(ctx, next, attempt)
		if err == nil {
			return next, d.followUp(ctx, next)
		}
		if hook.CodeOf(err) != hook.CodeConflict {
			return next, fmt.Errorf("save delivery %s: %w", next.ID, err)
		}
		if current, err = d.Store.Delivery(ctx, next.ID); err != nil {
			return next, fmt.Errorf("read delivery %s: %w", next.ID, err)
		}
		if current.Token == s.token.Nonce { // our own write, whose answer was lost
			return current, d.followUp(ctx, current)
		}
		if current.Attempts >= s.token.Attempt || current.State.Settled() {
			return current, nil
		}
	}
	return current, hook.Conflict(fmt.Sprintf("delivery %s changed %d times while it was settled", current.ID, settleTries))
}

// followUp does what the recorded decision asks for (b). Doing it twice is
// harmless: a second token of the same attempt finds it recorded, a schedule
// has one name, and dead letters are reconciled with the records.
func (d *Deliverer) followUp(ctx context.Context, recorded hook.Delivery) error {
	switch recorded.State {
	case hook.StateRetrying:
		return d.sendToken(ctx, hook.NewToken(recorded.Tenant, recorded.ID, recorded.Attempts+1), recorded.NextAttemptAt)
	case hook.StateDelivered, hook.StateCancelled, hook.StateDiscarded:
		// Discarded: it died, and its replay settled before this token came back.
		return d.completeSettlement(ctx, recorded)
	case hook.StateDead:
		if recorded.Reason == hook.ReasonGone {
			if err := d.disableEndpoint(ctx, recorded); err != nil {
				return err
			}
		}
		if err := d.DeadLetters.Send(ctx, hook.DeadLetterOf(recorded)); err != nil {
			return fmt.Errorf("bury delivery %s: %w", recorded.ID, err)
		}
		return d.completeSettlement(ctx, recorded)
	case hook.StateQueued, hook.StateParked:
		return nil
	}
	return nil
}

func (d *Deliverer) completeSettlement(ctx context.Context, recorded hook.Delivery) error {
	if err := d.Settlement.Complete(ctx, recorded); err != nil {
		return fmt.Errorf("see to what follows from delivery %s: %w", recorded.ID, err)
	}
	return nil
}

// sendToken makes the token arrive on the retry lane at the time given.
func (d *Deliverer) sendToken(ctx context.Context, token hook.Token, at time.Time) error {
	delay := max(0, at.Sub(d.Now()))
	if delay > hook.MaxQueueDelay {
		if err := d.Schedules.At(ctx, token, at); err != nil {
			return fmt.Errorf("schedule attempt %d of %s: %w", token.Attempt, token.Delivery, err)
		}
		return nil
	}
	if errs := d.Queue.Send(ctx, hook.LaneRetry, []hook.Token{token}, delay); errs != nil {
		return fmt.Errorf("send token of attempt %d of %s: %w", token.Attempt, token.Delivery, errs[0])
	}
	return nil
}

// disableEndpoint takes an endpoint that answered 410 out of service, unless its owner
// changed it since.
func (d *Deliverer) disableEndpoint(ctx context.Context, recorded hook.Delivery) error {
	for range settleTries {
		e, err := d.Store.Endpoint(ctx, recorded.Tenant, recorded.ID.Endpoint)
		deleted := err != nil && hook.CodeOf(err) == hook.CodeNotFound
		if err != nil && !deleted {
			return fmt.Errorf("read endpoint %s: %w", recorded.ID.Endpoint, err)
		}
		if deleted || e.Status == hook.StatusDisabled || e.UpdatedAt.After(recorded.UpdatedAt) {
			return nil
		}
		err = d.Store.UpdateEndpoint(ctx, e.Disabled(hook.ReasonGone, recorded.UpdatedAt))
		if err == nil {
			return d.notifyGone(ctx, recorded)
		}
		if hook.CodeOf(err) != hook.CodeConflict {
			return fmt.Errorf("disable endpoint %s: %w", e.ID, err)
		}
	}
	return hook.Conflict(fmt.Sprintf("endpoint %s changed %d times while it was disabled", recorded.ID.Endpoint, settleTries))
}

// notifyGone says why the endpoint is disabled. If the process dies before, it is
// not said; the endpoint's own reason shows it.
func (d *Deliverer) notifyGone(ctx context.Context, recorded hook.Delivery) error {
	n := hook.Notification{
		Type: hook.NotificationDisabled, Tenant: recorded.Tenant, Endpoint: recorded.ID.Endpoint, Delivery: recorded.ID,
		At: recorded.UpdatedAt, Reason: "it answered 410 Gone: it wants no more deliveries",
		Key: hook.NotificationDisabled + "/" + recorded.ID.String(),
	}
	if err := d.Notifier.Notify(ctx, n); err != nil {
		return fmt.Errorf("tell that endpoint %s is disabled: %w", n.Endpoint, err)
	}
	return nil
}
