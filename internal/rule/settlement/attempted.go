package settlement

import (
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/retry"
)

// applyAttempt returns the record after the attempt, and the attempt to record. If the first
// attempt succeeds, there is no attempt to record.
func (d Decision) applyAttempt(s *Subject, current *hook.Delivery) (*hook.Delivery, *hook.Attempt) {
	next, o := new(current.OrderedAs(*s.Delivery)), *d.outcome
	if next.Erased { // the payload was erased during the attempt
		o = o.Bare()
	}
	next.Attempts, next.DecidedBy = s.Task.Attempt, s.Task.Nonce
	next.UpdatedAt, next.NextAttemptAt = d.at, time.Time{}
	next.Last = o.Short()
	next.State, next.Reason = hook.StateDead, hook.ReasonNone
	switch meaningOf(s.Endpoint, &o) {
	case hook.ResultDelivered:
		next.State = hook.StateDelivered
	case hook.ResultRejected:
		next.Reason = reasonOf(o.Class)
	case hook.ResultTransient:
		if o.Stale && next.Stale == 0 {
			next.Stale = next.Attempts
		}
		next.State, next.Reason, next.NextAttemptAt = afterFailure(next, s.Endpoint, ownWait(s, &o), d.at)
	}
	if next.State == hook.StateDelivered && next.Attempts == 1 {
		// There is no other record of the attempt: with the members, and with headers if they are recorded.
		next.Last.Batch, next.Last.Headers, next.Last.Sent = o.Batch, o.Headers, o.Sent
		return next, nil
	}
	planned := next.NextAttemptAt
	if asked := d.at.Add(o.RetryAfter); next.State == hook.StateRetrying && planned.Before(asked) {
		planned = asked
	}
	return next, &hook.Attempt{
		Delivery:      next.Ref(),
		Number:        next.Attempts,
		Trigger:       hook.TriggerOf(next.ID, next.Attempts),
		StartedAt:     d.started,
		NextAttemptAt: planned,
		ExpiresAt:     next.ExpiresAt,
		Outcome:       o,
	}
}

// reasonOf returns the reason of a delivery whose outcome no further attempt can improve.
func reasonOf(c hook.Class) hook.Reason {
	switch c { //nolint:exhaustive // with all others the receiver rejects the event
	case hook.ClassGone:
		return hook.ReasonGone
	case hook.ClassTransformation:
		return hook.ReasonTransformation
	}
	return hook.ReasonRejected
}

// meaningOf returns what the outcome means for a delivery.
func meaningOf(e *hook.Endpoint, o *hook.Outcome) hook.Result {
	if RejectedTogether(e, o) {
		return hook.ResultTransient
	}
	return e.ResultOf(o)
}

// RejectedTogether reports whether the endpoint rejected a request with several events. The cause may be any of
// them, so each is tried again alone. A 410 is about the endpoint.
func RejectedTogether(e *hook.Endpoint, o *hook.Outcome) bool {
	return o.Batch.Several() && o.Class != hook.ClassGone && e.ResultOf(o) == hook.ResultRejected
}

// ownWait returns the wait for which the delivery itself waits. After a 429 the gate holds the whole
// endpoint, so the delivery comes by its schedule, is parked with the others if the hold lasts, and
// goes with them as soon as it ends: earlier than asked if the owner ends it. A test event holds
// nothing.
func ownWait(s *Subject, o *hook.Outcome) time.Duration {
	if o.Class == hook.ClassThrottled && !s.Task.Test() {
		return 0
	}
	return o.RetryAfter
}

// afterFailure plans the next attempt: after the first of the delays that ends before max_age. If none does, the
// delivery is dead now, so that its owner is told at once.
func afterFailure(d *hook.Delivery, e *hook.Endpoint, retryAfter time.Duration, now time.Time) (hook.State, hook.Reason, time.Time) {
	var delays []time.Duration
	if d.AfterStale(d.Attempts + 1) {
		delays = append(delays, 0)
	}
	if delay, ok := retry.Next(e.Retry, d.ID, d.Counted(), retryAfter); ok {
		unasked, _ := retry.Next(e.Retry, d.ID, d.Counted(), 0) // the wait that the endpoint asked for must not be its death
		delays = append(delays, delay, unasked)
	}
	// Nor must the rejection of another event: alone, it has an attempt even after the policy's last one.
	if RejectedTogether(e, &d.Last) && d.Attempts < hook.MaxRequests {
		delays = append(delays, retryAfter, 0)
	}
	if len(delays) == 0 {
		return hook.StateDead, hook.ReasonExhausted, time.Time{}
	}
	for _, delay := range delays {
		if _, next := e.QueueAt(hook.QueueRetry, now.Add(delay)); !retry.Expired(*d, next, e.MaxAge) {
			return hook.StateRetrying, hook.ReasonNone, next
		}
	}
	return hook.StateDead, hook.ReasonExpired, time.Time{}
}
