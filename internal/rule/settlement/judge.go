package settlement

import (
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/order"
	"surehook.example/surehook/internal/rule/retry"
)

// Subject is a task with the records that it names. The records are shared and must not be
// changed.
type Subject struct {
	Task     hook.Task
	Event    *hook.Event
	Endpoint *hook.Endpoint // nil: deleted
	Delivery *hook.Delivery // as read before the attempt
	Sequence order.Sequence // of a delivery with a number
}

// Step is what happens to a task next.
type Step struct {
	Do       Action
	Reason   string   // of Drop, for the log
	Sending  *Sending // of Send
	Decision Decision // of Write
}

// Action is the kind of a step.
type Action uint8

// The actions.
const (
	Drop    Action = iota + 1 // the task is outdated: there is nothing to do
	Resume                    // the task's own decision is recorded: only the follow-up is left
	Send                      // the task is sent on: to another queue, or for a later time
	Write                     // a decision without an attempt is written
	Attempt                   // the delivery is due
	Await                     // other deliveries with its ordering key come first
	Join                      // they came, and went: the delivery needs another place
)

// Decides reports whether the step ends in a decision about the task's attempt.
func (s Step) Decides() bool { return s.Do == Attempt || s.Do == Write }

// earlyTolerance allows for the difference between the clocks of two machines: a task is due
// from this long before its planned time.
const earlyTolerance = time.Second

// Judge returns the next step for the task, according to the records.
//
// If the task's own nonce is in the record, and the attempt is recorded or the delivery is
// settled, the task has already decided, and resumes at (b).
//
// If the delivery was parked after the task was made, the task is dropped, unless its attempt
// is recorded. A copy of the task may have parked the delivery and deleted the message. Were this
// task to make the attempt and its process to die between (a) and (b), no message with this nonce
// would come back, other tasks would find the attempt recorded, and (b) would be lost.
// Dropping the task loses nothing: the breaker sends another one for a parked delivery, and a
// release sends its task before it ends the park. Only a park changes Parks.
func Judge(s *Subject, now time.Time) Step {
	t, d := s.Task, s.Delivery
	own, turn := d.DecidedBy == t.Nonce, s.Sequence.TurnOf(*d)
	switch {
	case t.Attempt == d.Attempts && own,
		d.State.Settled() && own: // expired or cancelled without an attempt
		return Step{Do: Resume}
	case t.Attempt <= d.Attempts:
		return Step{Do: Drop, Reason: "attempt is recorded already"}
	case d.State.Settled():
		return Step{Do: Drop, Reason: "delivery is " + d.State.String()}
	case t.Parks < d.Parks:
		return Step{Do: Drop, Reason: "the delivery was parked after the task was made"}
	case t.Attempt > d.Attempts+1:
		return Step{Do: Drop, Reason: "the previous attempt is not recorded"}
	case s.Event.Erased():
		return Step{Do: Write, Decision: Erased(now)}
	case turn == order.Later && (d.ClosesAt().IsZero() || now.Before(d.ClosesAt())):
		return Step{Do: Await}
	case turn == order.Passed:
		return Step{Do: Join}
	case d.State == hook.StateRetrying && now.Before(d.NextAttemptAt.Add(-earlyTolerance)):
		return Step{Do: Send, Sending: new(wait(s))}
	// Its turn has not come an hour before its records are deleted (ClosesAt), or it is older than max_age.
	case turn == order.Later || s.Endpoint != nil && retry.Expired(*d, now, s.Endpoint.MaxAge):
		return Step{Do: Write, Decision: Expired(now)}
	}
	return Step{Do: Attempt}
}
