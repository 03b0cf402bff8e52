package settlement

import (
	"time"

	"surehook/internal/hook"
	"surehook/internal/rule/retry"
)

// Subject is a token with the records that it names. Nobody changes the records.
type Subject struct {
	Token    hook.Token
	Event    *hook.Event
	Endpoint *hook.Endpoint // nil: deleted
	Delivery *hook.Delivery // as read before the attempt
}

// Step is what happens to a token next.
type Step struct {
	Do       Action
	Reason   string   // of Drop, and of Send for a rate slot, for the log
	Sending  *Sending // of Send
	Decision Decision // of Settle
}

// Action is the kind of a step.
type Action uint8

// The actions.
const (
	Drop    Action = iota + 1 // nothing is left to do
	Resume                    // the token's own decision is recorded: only (b) is left
	Send                      // the token goes on: to another lane, or at a later time
	Settle                    // the decision is written, without an attempt
	Attempt                   // the delivery is due
)

// Decides reports whether the step ends in a decision about the token's attempt.
func (s Step) Decides() bool { return s.Do == Attempt || s.Do == Settle }

// earlyTolerance is the accepted difference between the clocks of two machines: a
// token is due from this long before the planned time.
const earlyTolerance = time.Second

// Judge returns the next step for the token, according to the records.
//
// A token with its own nonce in the record has decided: the attempt is recorded, or
// the delivery is settled. The token resumes at (b).
//
// A token older than the last park of the record is dropped, unless its attempt is
// recorded. The message of the token may be deleted: a copy of the token may have
// parked the delivery. An attempt would be the last effect of the token: after a
// death between (a) and (b) no message returns with this nonce, and other tokens find
// the attempt recorded. The drop loses nothing. While the delivery is parked, the
// breaker sends another token. A release sends its token before it ends the park.
// All other writes leave Parks as the token knows it.
func Judge(s *Subject, now time.Time) Step {
	t, d := s.Token, s.Delivery
	own := d.Token == t.Nonce
	switch {
	case t.Attempt == d.Attempts && own,
		d.State.Settled() && own: // expired or cancelled: decided without an attempt
		return Step{Do: Resume}
	case t.Attempt <= d.Attempts:
		return Step{Do: Drop, Reason: "attempt is recorded already"}
	case d.State.Settled():
		return Step{Do: Drop, Reason: "delivery is " + d.State.String()}
	case t.Parks < d.Parks:
		return Step{Do: Drop, Reason: "the delivery was parked after the token was made"}
	case t.Attempt > d.Attempts+1:
		return Step{Do: Drop, Reason: "the attempt before is not recorded"}
	case s.Event.Erased():
		return Step{Do: Settle, Decision: Erased(now)}
	case d.State == hook.StateRetrying && now.Before(d.NextAttemptAt.Add(-earlyTolerance)):
		return Step{Do: Send, Sending: new(wait(s))}
	case s.Endpoint != nil && retry.Expired(*d, now, s.Endpoint.MaxAge):
		return Step{Do: Settle, Decision: Expired(now)}
	}
	return Step{Do: Attempt}
}
