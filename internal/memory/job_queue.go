package memory

import (
	"context"
	"sync/atomic"
	"time"

	"surehook/internal/delivery/replay"
)

var _ replay.JobQueue = (*JobQueue)(nil)

// JobQueue is the queue of messages that drive replay jobs. Like SQS it hides a
// message that was received and shows it again unless it is deleted. It is safe
// for concurrent use.
type JobQueue struct {
	// Visibility is how long a received message is hidden; a minute at first.
	Visibility time.Duration

	now  func() time.Time
	jobs *line[replay.Message]
}

// JobMessage is a message of a job that was received.
type JobMessage struct {
	ID           string
	Job          replay.Message
	ReceiveCount int // this time included
}

// NewJobQueue returns an empty queue that lives by now.
func NewJobQueue(now func() time.Time) *JobQueue {
	return &JobQueue{Visibility: defaultVisibility, now: now, jobs: newLine[replay.Message](now, new(atomic.Int64))}
}

// Continue keeps the message, to be received after the delay, which is rounded
// up to whole seconds and cut to 15 minutes.
func (j *JobQueue) Continue(_ context.Context, m replay.Message, delay time.Duration) error {
	j.jobs.put("", m, j.now().Add(queueDelay(delay)))
	return nil
}

// Receive returns at most limit messages that are visible now, in the order in
// which they became so, and hides them for Visibility.
func (j *JobQueue) Receive(limit int) []JobMessage {
	return jobMessages(j.jobs.receive(limit, j.Visibility, false))
}

// Await is Receive, but waits until there is a message; none when ctx ends
// before. It is for those who live by the real time.
func (j *JobQueue) Await(ctx context.Context, limit int) []JobMessage {
	return jobMessages(j.jobs.await(ctx, limit, j.Visibility, false))
}

// Delete removes the message, if it is there.
func (j *JobQueue) Delete(id string) { j.jobs.delete(id) }

// Next returns the time at which the first message is or becomes visible; ok is
// false if there is none.
func (j *JobQueue) Next() (at time.Time, ok bool) { return j.jobs.next() }

func jobMessages(entries []entry[replay.Message]) []JobMessage {
	var all []JobMessage
	for _, e := range entries {
		all = append(all, JobMessage{ID: e.id, Job: e.value, ReceiveCount: e.received})
	}
	return all
}
