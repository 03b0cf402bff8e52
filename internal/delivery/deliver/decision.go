package deliver

import (
	"time"

	"surehook/internal/hook"
	"surehook/internal/rule/retry"
)

// decision turns the newest record into the record to be written, with an attempt
// to be written in the same transaction, or nil. The newest record stays as it is. After
// a version conflict, settleDelivery calls the decision again.
type decision func(current *hook.Delivery) (*hook.Delivery, *hook.Attempt)

// attemptOutcome is the decision after the request r.
func attemptOutcome(s *subject, r *request) decision {
	now := r.ended
	return func(current *hook.Delivery) (*hook.Delivery, *hook.Attempt) {
		d, o := new(*current), r.outcome
		if d.Erased { // during the attempt
			o.Body = nil
		}
		d.Attempts = s.token.Attempt
		d.Token = s.token.Nonce
		d.UpdatedAt = now
		d.NextAttemptAt = time.Time{}
		d.Last = o
		d.Last.Body = o.Body[:min(len(o.Body), hook.MaxLastBody)]
		d.State, d.Reason = hook.StateDead, hook.ReasonNone
		switch meaning(s.endpoint, &o) {
		case hook.ResultDelivered:
			d.State = hook.StateDelivered
		case hook.ResultRejected:
			d.Reason = hook.ReasonRejected
			if o.Class == hook.ClassGone {
				d.Reason = hook.ReasonGone
			}
		case hook.ResultTransient:
			d.State, d.Reason, d.NextAttemptAt = afterFailure(d, s.endpoint, o.RetryAfter, now)
		}
		if d.State == hook.StateDelivered && d.Attempts == 1 {
			return d, nil
		}
		d.Last.Batch = o.Batch.Short() // the record of the attempt holds them
		return d, &hook.Attempt{
			Delivery:      d.Ref(),
			Number:        d.Attempts,
			Trigger:       hook.TriggerOf(d.ID, d.Attempts),
			StartedAt:     r.started,
			NextAttemptAt: d.NextAttemptAt,
			ExpiresAt:     d.ExpiresAt,
			Outcome:       o,
		}
	}
}

// meaning returns the meaning of the outcome for a delivery. An answer that rejects a
// batch of several events may be about another event: the delivery then goes alone.
func meaning(e *hook.Endpoint, o *hook.Outcome) hook.Result {
	result := e.ResultOf(o)
	if o.Batch.Several() && result == hook.ResultRejected && o.Class != hook.ClassGone {
		return hook.ResultTransient
	}
	return result
}

// afterFailure plans the next attempt. A delivery older than max_age at the next
// attempt is dead now, so that the owner hears of the death without a wait.
func afterFailure(d *hook.Delivery, e *hook.Endpoint, retryAfter time.Duration, now time.Time) (hook.State, hook.Reason, time.Time) {
	delay, ok := retry.Next(e.Retry, d.ID, d.Attempts, retryAfter)
	if !ok {
		return hook.StateDead, hook.ReasonExhausted, time.Time{}
	}
	_, next := e.LaneAt(hook.LaneRetry, now.Add(delay))
	if retry.Expired(*d, next, e.MaxAge) {
		return hook.StateDead, hook.ReasonExpired, time.Time{}
	}
	return hook.StateRetrying, hook.ReasonNone, next
}

// eraseAs is the decision for a delivery of an event without a payload.
func eraseAs(s *subject, now time.Time) decision {
	return func(current *hook.Delivery) (*hook.Delivery, *hook.Attempt) {
		d := new(current.Erase(now))
		d.Token = s.token.Nonce
		return d, nil
	}
}

// settleAs is a decision without an attempt: expired, parked or cancelled.
func settleAs(s *subject, state hook.State, reason hook.Reason, now time.Time) decision {
	return func(current *hook.Delivery) (*hook.Delivery, *hook.Attempt) {
		d := new(*current)
		d.State, d.Reason = state, reason
		if state == hook.StateParked {
			d.Parks++
		}
		d.Token = s.token.Nonce
		d.UpdatedAt = now
		d.NextAttemptAt = time.Time{}
		return d, nil
	}
}
