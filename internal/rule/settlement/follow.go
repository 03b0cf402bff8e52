package settlement

import (
	"time"

	"surehook.example/surehook/internal/hook"
)

// FollowUp is the work that follows from a record, step (b), in the order of the fields. Repeating
// it is harmless: a second task finds the attempt recorded, and the breaker removes a second dead
// letter.
type FollowUp struct {
	Task     *Sending // the task of the next attempt; nil: none
	Disable  bool     // disable the endpoint, which answered 410 to more than a test event
	Letter   bool     // send the dead letter
	Complete bool     // do the completion of the delivery: see package settle
}

// Sending is a task to send, with its queue and time.
type Sending struct {
	Task  hook.Task
	Queue hook.Queue
	At    time.Time
}

// FollowUpOf returns the work that follows from the record of a delivery to the endpoint; nil for a
// deleted one.
func FollowUpOf(d *hook.Delivery, e *hook.Endpoint) FollowUp {
	switch d.State {
	case hook.StateRetrying:
		queue, at := e.QueueAt(hook.QueueRetry, d.NextAttemptAt)
		return FollowUp{Task: &Sending{Task: d.NextTask(), Queue: queue, At: at}}
	case hook.StateDelivered, hook.StateCancelled, hook.StateDiscarded:
		// Discarded: the delivery died, and its replay settled before this task came back.
		return FollowUp{Complete: true}
	case hook.StateDead:
		return FollowUp{Disable: d.Reason == hook.ReasonGone && !d.ID.Event.IsTest(), Letter: true, Complete: true}
	case hook.StateQueued, hook.StateParked:
	}
	return FollowUp{}
}

// wait returns the sending of a task that came too early: it comes back at the planned time.
func wait(s *Subject) Sending {
	queue, at := s.Endpoint.QueueAt(hook.QueueRetry, s.Delivery.NextAttemptAt)
	return Sending{Task: SameTask(s.Task), Queue: queue, At: at}
}

// SameTask returns a task for the same attempt, with the same nonce and one more hop.
//
// The nonce must stay, because the queue may give one message to two processes. Suppose the first
// one makes the attempt and dies before (b), while the second one sends the task back to wait.
// When the task returns, it finds its own nonce in the record and resumes at (b). With a new
// nonce it would be dropped, and the delivery would be lost.
func SameTask(t hook.Task) hook.Task {
	return hook.Task{Delivery: t.Delivery, Tenant: t.Tenant, Attempt: t.Attempt, Nonce: t.Nonce, Hops: t.Hops + 1, Parks: t.Parks}
}
