package replay

import (
	"time"

	"surehook/internal/hook"
)

// takenDelay is the delay of a copy of a message from a worker without the job. Both
// workers may hold the same message. After the second worker acknowledges the
// message, no message is left for a crash of the first worker.
const takenDelay = time.Minute

// Chain names the messages of a job by their nonces.
//
// A running job has an unacknowledged copy of the message Next, or of the message
// Previous. A worker acknowledges its message only after it enqueued a copy of one of the
// two. So other messages can end, and duplicates begin no second chain.
type Chain struct {
	Next     string // nonce of the message that continues the job
	Previous string // nonce of the message that passed the job on to Next; empty: none did
}

// NewChain returns the chain of a new job.
func NewChain() Chain { return Chain{Next: hook.NewNonce()} }

// PassOn names a fresh message as the one that continues the job, in place of the
// worker's own. The same save must complete the worker's part of the job, so no worker with the
// old message can save the job any more.
func (c *Chain) PassOn() { c.Previous, c.Next = c.Next, hook.NewNonce() }

// Following is what a worker does with a message, and the message to enqueue.
type Following struct {
	Decision string // as logged; empty: the message continues the job
	Enqueues bool
	Message  Message
	Delay    time.Duration
}

// Follow returns what a worker does with the message m of a job at the time now. due is
// the time of the job's next message, and runs reports whether the job has work left.
//
// A worker with the message Previous looks again later, while the next message may be on
// its way. When that message is overdue, the worker that passed the job on may have died
// before it enqueued the message: Follow returns a copy.
func (c Chain) Follow(m Message, runs bool, due, now time.Time) Following {
	switch {
	case m.Nonce == c.Next:
		return Following{}
	case m.Nonce != c.Previous:
		return Following{Decision: decideStale}
	case !runs:
		return Following{Decision: decideEnded}
	}
	if wait := due.Add(takenDelay).Sub(now); wait > 0 {
		return Following{Decision: decideTaken, Enqueues: true, Message: m, Delay: wait}
	}
	return Following{Decision: decideAgain, Enqueues: true, Message: m.successor(c.Next)}
}

// Taken returns what a worker does after another worker saved the job.
func Taken(m Message) Following {
	return Following{Decision: decideTaken, Enqueues: true, Message: m, Delay: takenDelay}
}

// Await returns what a worker does with a message without a job: the message comes again
// until the deadline for the first save. The delay is as long as the job was missing
// before, so copies of the message stay few.
func Await(m Message, now time.Time) Following {
	left := m.Until.Sub(now)
	if left <= 0 {
		return Following{Decision: decideGone}
	}
	return Following{Decision: decideAwait, Enqueues: true, Message: m, Delay: max(FirstDelay, min(MaxSaveDelay-left, left))}
}

// successor returns a message of the same job with the nonce.
func (m Message) successor(nonce string) Message {
	return Message{Tenant: m.Tenant, Job: m.Job, Erasure: m.Erasure, Nonce: nonce}
}
