package settlement

import (
	"time"

	"surehook.example/surehook/internal/hook"
)

// Sending is a task to send, with its queue and time.
type Sending struct {
	Task  hook.Task
	Queue hook.Queue
	At    time.Time
}

// NextSending returns the task of the next attempt of a retrying delivery to the endpoint; nil: deleted, so that the
// gate will cancel the delivery.
func NextSending(d *hook.Delivery, e *hook.Endpoint) Sending {
	queue, at := e.QueueAt(hook.QueueRetry, d.NextAttemptAt)
	return Sending{Task: d.NextTask(), Queue: queue, At: at}
}

// wait returns the sending of a task that came too early: it comes back at the planned time.
func wait(s *Subject) Sending {
	queue, at := s.Endpoint.QueueAt(hook.QueueRetry, s.Delivery.NextAttemptAt)
	return Sending{Task: SameTask(s.Task), Queue: queue, At: at}
}

// SameTask returns a task for the same attempt, with the same nonce and one more hop. It leaves out the request for
// a replay, which is recorded by now.
//
// The nonce must stay, because the queue may give one message to two processes. Suppose the first
// one makes the attempt and dies before (b), while the second one sends the task back to wait.
// When the task returns, it finds its own nonce in the record and resumes at (b). With a new
// nonce it would be dropped, and the delivery would be lost.
func SameTask(t hook.Task) hook.Task {
	return hook.Task{Delivery: t.Delivery, Tenant: t.Tenant, Attempt: t.Attempt, Nonce: t.Nonce, Hops: t.Hops + 1, Parks: t.Parks}
}
