package replay

import (
	"time"

	"surehook.example/surehook/internal/hook"
)

// takenDelay is the delay after which a worker that found its job taken sees the message again.
// Both workers may hold the same message: if this one simply acknowledged it, and the other one
// crashed, no message would be left.
const takenDelay = time.Minute

// Chain names the messages of a job by their nonces.
//
// A running job always has an unacknowledged message Next, or Previous. A worker acknowledges
// its message only after it enqueued a copy of one of the two. So all other messages can be
// dropped, and duplicates start no second chain.
type Chain struct {
	Next     string `stored:"next"`     // nonce of the message that continues the job
	Previous string `stored:"previous"` // nonce of the message that passed the job on to Next; empty: none did
}

// NewChain returns the chain of a new job.
func NewChain() Chain { return Chain{Next: hook.NewNonce()} }

// PassOn names a fresh message as the one that continues the job, in place of the worker's own.
// It must be saved together with the worker's part of the job. After that, no worker with the
// old message can save the job.
func (c *Chain) PassOn() { c.Previous, c.Next = c.Next, hook.NewNonce() }

// Following is what a worker does with a message, and the message to enqueue.
type Following struct {
	Decision string  // as logged; empty: the message continues the job
	Message  Message // the zero Message: none
	Delay    time.Duration
}

// Follow returns what a worker does with message m of a job. due is the time of the job's next
// message, and runs reports whether the job has work left.
//
// With the message Previous, a worker looks again later while the next message may still be on
// its way. If that is overdue, the worker that passed the job on may have died before
// enqueueing it, so Follow returns a copy.
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
		return Following{Decision: decideTaken, Message: m, Delay: wait}
	}
	return Following{Decision: decideAgain, Message: m.successor(c.Next)}
}

// Taken returns what a worker does after another worker saved the job.
func Taken(m Message) Following {
	return Following{Decision: decideTaken, Message: m, Delay: takenDelay}
}

// Await returns what a worker does with a message whose job is not saved: the message comes
// again until the deadline for the first save. Each delay is as long as the job has been
// missing so far, so there are few of them.
func Await(m Message, now time.Time) Following {
	left := m.Until.Sub(now)
	if left <= 0 {
		return Following{Decision: decideGone}
	}
	return Following{Decision: decideAwait, Message: m, Delay: max(FirstDelay, min(MaxSaveDelay-left, left))}
}

// successor returns a message of the same job with the nonce.
func (m Message) successor(nonce string) Message {
	return Message{Tenant: m.Tenant, Job: m.Job, Erasure: m.Erasure, Nonce: nonce}
}
