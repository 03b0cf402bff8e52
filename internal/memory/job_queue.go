package memory

import (
	"context"
	"sync/atomic"
	"time"

	"surehook.example/surehook/internal/delivery/replay"
)

var _ replay.JobQueue = (*JobQueue)(nil)

// JobQueue is the queue of the messages of replay jobs. As with SQS, a received
// message is hidden, and visible again unless deleted. JobQueue is safe for
// concurrent use.
type JobQueue struct {
	// Visibility is the visibility timeout of received messages; by default a
	// minute.
	Visibility time.Duration
	// MaxReceives is the maxReceiveCount of the redrive policy: a message is
	// undeliverable at the next receive. 0, the default, is no maximum.
	MaxReceives int

	now  func() time.Time
	jobs *standardQueue[replay.Message]
}

// JobMessage is a received message of a job.
type JobMessage struct {
	ID           string
	Job          replay.Message
	ReceiveCount int // this receipt included
}

// NewJobQueue returns an empty queue with the clock now.
func NewJobQueue(now func() time.Time) *JobQueue {
	return &JobQueue{Visibility: defaultVisibility, now: now, jobs: newStandardQueue[replay.Message](now, new(atomic.Int64))}
}

// Continue rounds the delay up to whole seconds. A delay below 0 is 0.
func (j *JobQueue) Continue(_ context.Context, m replay.Message, delay time.Duration) error {
	j.jobs.put("", m, j.now().Add(queueDelay(delay)))
	return nil
}

// Receive returns at most limit visible messages, ordered by time of visibility,
// and hides the messages for Visibility.
func (j *JobQueue) Receive(limit int) []JobMessage {
	return jobMessages(j.jobs.receive(limit, j.Visibility, j.MaxReceives, false))
}

// Await is Receive, but waits for a message. Await returns no messages when ctx
// ends first. Await requires a real clock.
func (j *JobQueue) Await(ctx context.Context, limit int) []JobMessage {
	return jobMessages(j.jobs.await(ctx, limit, j.Visibility, j.MaxReceives, false))
}

// Delete removes the message. Delete ignores an unknown id.
func (j *JobQueue) Delete(id string) { j.jobs.delete(id) }

// ChangeVisibility makes a received message visible again after d, rounded up to whole
// seconds, as ChangeMessageVisibility of SQS. ChangeVisibility ignores an unknown id.
func (j *JobQueue) ChangeVisibility(id string, d time.Duration) { j.jobs.changeVisibility(id, d) }

// Next returns the earliest time of visibility of all messages; ok is false without
// messages.
func (j *JobQueue) Next() (at time.Time, ok bool) { return j.jobs.next() }

func jobMessages(entries []entry[replay.Message]) []JobMessage {
	var all []JobMessage
	for _, e := range entries {
		all = append(all, JobMessage{ID: e.id, Job: e.value, ReceiveCount: e.received})
	}
	return all
}
