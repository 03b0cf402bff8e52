package settlement

import (
	"time"

	"surehook/internal/hook"
	"surehook/internal/rule/retry"
)

// Decision is what a token decided about its delivery. On applies it to a record, and
// again to the newest record after a conflict.
type Decision struct {
	state  hook.State // without an attempt; 0: the outcome decides
	reason hook.Reason
	erase  bool

	outcome *hook.Outcome // of the attempt; nil: none was made
	started time.Time
	at      time.Time
}

// Attempted is the decision after an attempt. The outcome stays as it is.
func Attempted(o *hook.Outcome, started, ended time.Time) Decision {
	return Decision{outcome: o, started: started, at: ended}
}

// Unattempted is a decision without an attempt: parked, cancelled, or dead.
func Unattempted(state hook.State, reason hook.Reason, now time.Time) Decision {
	return Decision{state: state, reason: reason, at: now}
}

// Expired is the decision about a delivery older than max_age.
func Expired(now time.Time) Decision {
	return Unattempted(hook.StateDead, hook.ReasonExpired, now)
}

// Erased is the decision about a delivery whose payload was erased.
func Erased(now time.Time) Decision { return Decision{erase: true, at: now} }

// HasAttempt reports whether a request was made. If so, a decision that is not written
// repeats the request.
func (d Decision) HasAttempt() bool { return d.outcome != nil }

// Order is what is to be done with a plan, and in which order.
type Order uint8

// The orders.
const (
	// WriteFirst writes the record (a), and then follows up (b).
	WriteFirst Order = iota + 1
	// FollowFirst follows up (b) before the write (a), over the record of another token.
	//
	// Perhaps no message returns with this nonce, so a death between (a) and (b) would lose
	// (b). After a death between the two steps the record is as before: the delivery is
	// parked, its next token exists, or it has a dead letter. The repetition of (b) is
	// harmless: the breaker removes a needless dead letter, the replay job counts the
	// delivery once, and a success counts before a death.
	FollowFirst
	// FollowOnly follows up (b): the record shows this decision.
	FollowOnly
	// Stand does nothing: another decision stands.
	Stand
)

// Plan is what a decision does to a record.
type Plan struct {
	Order   Order
	Record  *hook.Delivery // to be written; with FollowOnly and Stand: the record as it is
	Attempt *hook.Attempt  // to be written in the same transaction; nil: none
	// Undone is the time of the death that a success replaces; zero for none.
	Undone time.Time
	// Made says, with FollowOnly, that the process of the decision wrote the record and lost
	// the answer; otherwise a copy of its token wrote it. Two copies of a token end in one
	// millisecond very seldom.
	Made bool
}

// On returns the plan for the newest record. The record stays as it is.
//
// A record is decided when it shows the attempt, or when the delivery is settled, or when
// this token parked it. The record of the own nonce is FollowOnly: the answer to the write
// was lost, or a copy of the token decided.
//
// A delivery parked after the token was made is not decided: a copy of the token may have
// parked it, and the process of the copy may have deleted the message. Only a conflict
// leads here: Judge drops such a token.
func (d Decision) On(s *Subject, current *hook.Delivery) Plan {
	next, attempt := d.apply(s, current)
	own := current.Token == s.Token.Nonce
	parkedTwice := own && next.State == hook.StateParked && current.State == hook.StateParked && next.Attempts == current.Attempts
	decided := current.Attempts >= s.Token.Attempt || current.State.Settled() || parkedTwice
	if !decided && s.Token.Parks >= current.Parks {
		return Plan{Order: WriteFirst, Record: next, Attempt: attempt}
	}
	if over, attempt, ok := d.over(s, current, next, attempt); ok {
		p := Plan{Order: FollowFirst, Record: over, Attempt: attempt}
		if current.State == hook.StateDead {
			p.Undone = current.UpdatedAt
		}
		return p
	}
	if decided && own {
		return Plan{Order: FollowOnly, Record: current, Made: same(current, next)}
	}
	return Plan{Order: Stand, Record: current}
}

// same reports whether the record shows the decision of this process.
func same(record, next *hook.Delivery) bool {
	return record.State == next.State && record.Attempts == next.Attempts && record.UpdatedAt.UnixMilli() == next.UpdatedAt.UnixMilli()
}

// over returns the decision in place of the record of another token, or of a copy of the
// token. ok is false when the record must stay:
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
func (d Decision) over(s *Subject, current, next *hook.Delivery, attempt *hook.Attempt) (*hook.Delivery, *hook.Attempt, bool) {
	died := current.State == hook.StateDead && current.Replayed.Generation == 0
	recorded := current.Attempts >= s.Token.Attempt
	switch {
	case !d.HasAttempt(), current.State.Settled() && !died:
		return nil, nil, false
	case recorded:
		next.Attempts = current.Attempts
		return next, nil, next.State == hook.StateDelivered // the record of the attempt stays
	case died:
		return next, attempt, next.State == hook.StateDelivered
	case next.State != hook.StateRetrying:
		return next, attempt, true
	case current.State != hook.StateParked:
		return nil, nil, false
	}
	next.State, next.Reason, next.NextAttemptAt = current.State, current.Reason, time.Time{}
	attempt.NextAttemptAt = time.Time{}
	return next, attempt, true
}

// apply returns the record with the decision, and the attempt.
func (d Decision) apply(s *Subject, current *hook.Delivery) (*hook.Delivery, *hook.Attempt) {
	if d.HasAttempt() {
		return d.applyAttempt(s, current)
	}
	next := new(*current)
	if d.erase {
		*next = current.Erase(d.at)
	} else {
		next.State, next.Reason = d.state, d.reason
		next.NextAttemptAt = time.Time{}
	}
	if next.State == hook.StateParked {
		next.Parks++
	}
	next.Token, next.UpdatedAt = s.Token.Nonce, d.at
	return next, nil
}

// applyAttempt returns the record after the attempt, and the attempt. The success of a first
// attempt needs no record of its own.
func (d Decision) applyAttempt(s *Subject, current *hook.Delivery) (*hook.Delivery, *hook.Attempt) {
	next, o := new(*current), *d.outcome
	if next.Erased { // during the attempt
		o.Body, o.Headers, o.Sent = nil, nil, nil
	}
	next.Attempts, next.Token = s.Token.Attempt, s.Token.Nonce
	next.UpdatedAt, next.NextAttemptAt = d.at, time.Time{}
	next.Last = o
	next.Last.Headers, next.Last.Sent, next.Last.Phases = nil, nil, hook.Phases{} // the record of the attempt has them
	next.Last.Body = o.Body[:min(len(o.Body), hook.MaxLastBody)]
	next.State, next.Reason = hook.StateDead, hook.ReasonNone
	switch resultOf(s.Endpoint, &o) {
	case hook.ResultDelivered:
		next.State = hook.StateDelivered
	case hook.ResultRejected:
		next.Reason = reasonOf(o.Class)
	case hook.ResultTransient:
		next.State, next.Reason, next.NextAttemptAt = afterFailure(next, s.Endpoint, o.RetryAfter, d.at)
	}
	if next.State == hook.StateDelivered && next.Attempts == 1 {
		return next, nil
	}
	next.Last.Batch = o.Batch.Short() // the record of the attempt holds them
	return next, &hook.Attempt{
		Delivery:      next.Ref(),
		Number:        next.Attempts,
		Trigger:       hook.TriggerOf(next.ID, next.Attempts),
		StartedAt:     d.started,
		NextAttemptAt: next.NextAttemptAt,
		ExpiresAt:     next.ExpiresAt,
		Outcome:       o,
	}
}

// reasonOf returns the reason of a delivery that no further attempt can help.
func reasonOf(c hook.Class) hook.Reason {
	switch c { //nolint:exhaustive // the others say that the receiver does not take the event
	case hook.ClassGone:
		return hook.ReasonGone
	case hook.ClassTransformation:
		return hook.ReasonTransformation
	}
	return hook.ReasonRejected
}

// resultOf returns the meaning of the outcome for a delivery. An answer that rejects a
// batch of several events may be about another event: the delivery then goes alone.
func resultOf(e *hook.Endpoint, o *hook.Outcome) hook.Result {
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
