package settlement

import (
	"time"

	"surehook.example/surehook/internal/hook"
)

// Decision is what a task decided about its delivery. On applies it to a record, and after a
// conflict to the newest record.
type Decision struct {
	state  hook.State // without an attempt; 0: the outcome decides
	reason hook.Reason
	erase  bool

	outcome *hook.Outcome // of the attempt; nil: none was made
	started time.Time
	at      time.Time
}

// Attempted is the decision after an attempt. It does not change the outcome.
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

// HasAttempt reports whether a request was made. Such a decision must be written, or the
// request is repeated.
func (d Decision) HasAttempt() bool { return d.outcome != nil }

// Course says what to do with a plan, and in which order.
type Course uint8

// The courses.
const (
	// WriteFirst writes the record (a) and then follows up (b).
	WriteFirst Course = iota + 1
	// FollowFirst follows up (b) before the write (a), when the decision replaces the record of
	// another task, and the delivery has not ended.
	//
	// Otherwise this could happen: (1) task A records the failure of attempt 3, which task B is making, too; (2) SQS
	// gives B's message to a second process, which finds attempt 3 recorded, drops the task and deletes the message;
	// (3) B's request succeeds, its process writes (a), and dies. No message with B's nonce comes back for (b).
	//
	// After a crash between (b) and (a) the record is as before: the delivery is parked,
	// or its next task exists. Repeating (b) is harmless: the breaker removes needless dead letters,
	// and the replay job counts the delivery once. Only the owner may have been told of a death that
	// an attempt undoes. If the message of this task does come back, it is dropped, and the record's
	// own task or the breaker's asks the endpoint again.
	FollowFirst
	// FollowOnly follows up (b): the record already has this decision.
	FollowOnly
	// Stand does nothing: the decision in the record stands.
	Stand
)

// Plan is what a decision does to a record.
type Plan struct {
	Course  Course
	Record  *hook.Delivery // to write; with FollowOnly and Stand: the current record
	Attempt *hook.Attempt  // to record with it; nil: none
	// Undone is when the delivery died, if a success replaces that death; zero otherwise. Whoever recorded the
	// death follows up; so the write of the success comes first, and a crash after it leaves at most the
	// replay job with a death.
	Undone time.Time
	// Made distinguishes two cases of FollowOnly: true if this process wrote the record and
	// lost the response, false if a copy of its task wrote it. The two are told apart by the
	// time of the decision in milliseconds, which two copies very rarely share.
	Made bool
}

// On returns the plan for the newest record, which it does not change. The first case that applies
// decides.
//
// A record is decided if it shows the attempt, if the delivery is settled, or if this task parked it, in a write whose
// answer was lost. What replaces the record of another task, or of a copy of this one, follows up first, unless the
// delivery has ended. Only a decision with an attempt replaces another: one without stands back, because the breaker
// ends and cancels parked deliveries. An attempt that failed while the delivery was parked replaces nothing.
func (d Decision) On(s *Subject, current *hook.Delivery) Plan {
	next, attempt := d.apply(s, current)
	own := current.DecidedBy == s.Task.Nonce
	recorded := current.Attempts >= s.Task.Attempt
	died := current.State == hook.StateDead && current.Replayed.Generation == 0
	parked := own && next.State == hook.StateParked && current.State == hook.StateParked && next.Attempts == current.Attempts
	decided := recorded || current.State.Settled() || parked
	switch {
	// Nothing came between, which is usual; a parked delivery whose task was sent by the breaker or with
	// a slot is such a one. If the delivery was parked after the task was made, the write must not come first: a copy of the
	// task may have parked the delivery, and that process may have deleted the message. This happens only
	// after a conflict, because Judge drops such a task.
	case !decided && s.Task.Parks >= current.Parks:
		return Plan{Course: WriteFirst, Record: next, Attempt: attempt}

	// Two tasks made the same attempt. A 2xx replaces a failure that the other one recorded, even
	// after further attempts or if the delivery is already dead. No other outcome does. A delivery
	// that somebody cancelled, discarded or replayed stays as it is.
	case d.HasAttempt() && decided && next.State == hook.StateDelivered && (died || !current.State.Settled()):
		p := Plan{Course: FollowFirst, Record: next, Attempt: attempt}
		if recorded {
			next.Attempts, p.Attempt = current.Attempts, nil // the recorded attempt stays
		}
		if died {
			p.Course, p.Undone = WriteFirst, current.UpdatedAt
		}
		return p

	// The delivery was parked during the attempt, which is its last.
	case d.HasAttempt() && !decided && next.State != hook.StateRetrying:
		return Plan{Course: FollowFirst, Record: next, Attempt: attempt}

	// It was parked during the attempt, which failed. The next task must not be sent before the
	// write, because it could arrive first and be dropped. So the attempt is recorded, the delivery
	// stays parked, and the breaker or a hand-over sends the next task. After a release the record stays as it is,
	// and the task of the release repeats the attempt.
	case d.HasAttempt() && !decided && current.State == hook.StateParked:
		next.State, next.Reason, next.NextAttemptAt = current.State, current.Reason, time.Time{}
		attempt.NextAttemptAt = time.Time{}
		return Plan{Course: WriteFirst, Record: next, Attempt: attempt}

	// The response to the write was lost, or a copy of the task made the decision.
	case decided && own:
		return Plan{Course: FollowOnly, Record: current, Made: same(current, next)}
	}
	return Plan{Course: Stand, Record: current}
}

// same reports whether the record shows the decision that this process made.
func same(record, next *hook.Delivery) bool {
	return record.State == next.State && record.UpdatedAt.UnixMilli() == next.UpdatedAt.UnixMilli()
}

// apply returns the record with the decision applied, and the attempt to record.
func (d Decision) apply(s *Subject, current *hook.Delivery) (*hook.Delivery, *hook.Attempt) {
	if d.HasAttempt() {
		return d.applyAttempt(s, current)
	}
	next := new(current.OrderedAs(*s.Delivery))
	if d.erase {
		*next = next.Erase(d.at)
	} else {
		next.State, next.Reason = d.state, d.reason
		next.NextAttemptAt = time.Time{}
	}
	if next.State == hook.StateParked {
		next.Parks++
	}
	next.DecidedBy, next.UpdatedAt = s.Task.Nonce, d.at
	return next, nil
}
