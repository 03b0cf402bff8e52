package replay

import (
	"context"

	"surehook/internal/hook"
)

// process continues the job if the message is the one that the job names.
//
// A running job has an unacknowledged copy of the message Next, or of the message
// Previous. A worker acknowledges its message only after it enqueued a copy of one of the
// two. So other messages can end, and duplicates begin no second chain.
func (w *jobRun) process(ctx context.Context) error {
	switch w.message.Nonce {
	case w.job.Next:
		return w.processPages(ctx)
	case w.job.Previous:
		return w.awaitNext(ctx)
	}
	w.decision = decideStale
	return nil
}

// passOn names a fresh message as the one that continues the job, in place of the
// worker's own. The same save removes the page, so no worker with the old message can
// save the job any more.
func (j *Job) passOn() { j.Previous, j.Next = j.Next, hook.NewNonce() }

// awaitNext looks again later, while the next message may be on its way. When the
// message is overdue, the worker that passed the job on may have died before it
// enqueued the message: awaitNext enqueues a copy.
func (w *jobRun) awaitNext(ctx context.Context) error {
	if w.job.State != JobRunning && len(w.job.Pending) == 0 {
		w.decision = decideEnded
		return nil
	}
	if wait := w.job.NextAt.Add(takenDelay).Sub(w.now()); wait > 0 {
		w.decision = decideTaken
		return w.enqueueMessage(ctx, w.message, wait)
	}
	w.decision = decideAgain
	return w.enqueueMessage(ctx, Message{Tenant: w.job.Tenant, Job: w.job.ID, Nonce: w.job.Next}, 0)
}
