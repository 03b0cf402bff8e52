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

// Step is the next step for a token, according to the records.
type Step uint8

// The steps.
const (
	Drop    Step = iota + 1 // nothing is left to do
	Resume                  // the token's own decision is recorded: only (b) is left
	Defer                   // the token came too early
	Expire                  // the delivery is older than max_age
	Erase                   // the payload was erased
	Attempt                 // the delivery is due
)

// earlyTolerance is the accepted difference between the clocks of two machines: a
// token is due from this long before the planned time.
const earlyTolerance = time.Second

// Judge returns the next step for the token, and the reason for the log.
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
func Judge(s *Subject, now time.Time) (step Step, reason string) {
	t, d := s.Token, s.Delivery
	own := d.Token == t.Nonce
	switch {
	case t.Attempt == d.Attempts && own,
		d.State.Settled() && own: // expired or cancelled: decided without an attempt
		return Resume, "own decision is recorded"
	case t.Attempt <= d.Attempts:
		return Drop, "attempt is recorded already"
	case d.State.Settled():
		return Drop, "delivery is " + d.State.String()
	case t.Parks < d.Parks:
		return Drop, "the delivery was parked after the token was made"
	case t.Attempt > d.Attempts+1:
		return Drop, "the attempt before is not recorded"
	case s.Event.Erased():
		return Erase, "the payload was erased"
	case d.State == hook.StateRetrying && now.Before(d.NextAttemptAt.Add(-earlyTolerance)):
		return Defer, "too early"
	case s.Endpoint != nil && retry.Expired(*d, now, s.Endpoint.MaxAge):
		return Expire, "older than max_age"
	}
	return Attempt, ""
}
