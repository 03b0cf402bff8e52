package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"surehook/internal/hook"
	"surehook/internal/names"
)

const (
	// pageLead is the time by which a page may go out early; the tokens carry the
	// delay. A page late by at most pageLead does not delay the next page, so the
	// travel time of messages does not lower the rate.
	pageLead = time.Second
	// takenDelay is the delay of a copy of a message from a worker without the job. Both
	// workers may hold the same message. After the second worker acknowledges the
	// message, no message is left for a crash of the first worker.
	takenDelay = time.Minute
	// pageReserve is the time that an invocation needs to begin another page.
	pageReserve = 10 * time.Second
)

// The decisions, as logged.
const (
	decideWait  = "wait"  // no room in the rate or in the invocation's time: continue later
	decideAwait = "await" // the first save of the job may follow
	decideGone  = "gone"  // no such job
	decideTaken = "taken" // another worker or message continues the job: look again later
	decideAgain = "again" // the next message did not continue the job: send a copy
	decideStale = "stale" // another message continues the job, and this one is not needed
	decideEnded = "ended" // nothing left to do
)

// errTaken ends the run of a job taken by another worker.
var errTaken = errors.New("another worker took the job")

// jobRun is the processing of one message of a job.
type jobRun struct {
	*Replayer

	message   Message
	job       Job
	read      Job             // the job as read
	records   []hook.Delivery // records of the pending page; nil when another process selected the page
	from      time.Time       // begin of the pending page at the job's rate
	next      *Message        // the next message, named by the job; nil: this worker continues
	endpoints []hook.Target   // endpoints of the filter; nil: not read yet

	decision                           string
	pages, selected, enqueued, skipped int
}

// Work continues the job of the message: one page, or several pages within the
// rate and the time of the invocation. After an error the message must come again;
// completed steps do not repeat.
func (r *Replayer) Work(ctx context.Context, m Message) (err error) {
	w := &jobRun{Replayer: r, message: m, job: Job{ID: m.Job, Tenant: m.Tenant}}
	defer func() {
		// A panic for one job must not stop the other jobs of a batch.
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		if errors.Is(err, errTaken) {
			w.decision, err = decideTaken, w.enqueueMessage(ctx, m, takenDelay)
		}
		if err != nil {
			err = fmt.Errorf("process job %s: %w", m.Job, err)
		}
		w.logRun(ctx, err)
	}()
	w.job, err = r.Jobs.Job(ctx, m.Tenant, m.Job)
	if hook.CodeOf(err) == hook.CodeNotFound {
		return w.awaitJob(ctx)
	}
	if err != nil {
		return fmt.Errorf("read job: %w", err)
	}
	w.read = w.job
	return w.process(ctx)
}

// awaitJob enqueues the message again until the deadline for the first save. The delay
// is as long as the job was missing before, so copies of the message stay few.
func (w *jobRun) awaitJob(ctx context.Context) error {
	left := w.message.Until.Sub(w.now())
	if left <= 0 {
		w.decision = decideGone
		return nil
	}
	w.decision = decideAwait
	return w.enqueueMessage(ctx, w.message, max(firstDelay, min(maxSaveDelay-left, left)))
}

func (w *jobRun) processPages(ctx context.Context) error {
	for {
		if len(w.job.Pending) > 0 {
			// For a cancelled job, too: some tokens of the page may be on the queue.
			if err := w.sendPage(ctx); err != nil {
				return err
			}
			continue
		}
		if w.job.State != JobRunning {
			w.decision = decideEnded
			return nil
		}
		if w.next != nil || w.mustWait(ctx, w.job) {
			w.decision = decideWait
			wait := w.job.NextAt.Sub(w.now())
			return w.enqueueMessage(ctx, *cmp.Or(w.next, &w.message), max(0, wait).Truncate(time.Second))
		}
		if err := w.selectPage(ctx); err != nil {
			return err
		}
	}
}

// mustWait reports whether the next page of the job is for a later message.
func (w *jobRun) mustWait(ctx context.Context, j Job) bool {
	return j.NextAt.Sub(w.now()) >= pageLead || w.pages > 0 && w.outOfTime(ctx)
}

// outOfTime reports whether the invocation has too little time left for another page.
func (w *jobRun) outOfTime(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && deadline.Sub(w.Now()) < pageReserve
}

// enqueueMessage enqueues the next message of the chain, and counts a message sent on
// too often.
func (w *jobRun) enqueueMessage(ctx context.Context, m Message, delay time.Duration) error {
	if m.Hops = w.message.Hops + 1; w.progressed() {
		m.Hops = 0
	}
	w.logCircling(ctx, m)
	if err := w.JobQueue.Continue(ctx, m, delay); err != nil {
		return fmt.Errorf("enqueue next job message: %w", err)
	}
	return nil
}

func (w *jobRun) logRun(ctx context.Context, err error) {
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String(names.LogTenant, string(w.job.Tenant)),
		slog.String(names.LogJob, string(w.message.Job)),
		slog.String(names.LogState, w.job.State.String()),
		slog.String(names.LogDecision, w.decision),
		slog.Int(names.LogPages, w.pages),
		slog.Int(names.LogSelected, w.selected),
		slog.Int(names.LogEnqueued, w.enqueued),
		slog.Int(names.LogSkipped, w.skipped),
	}
	if err != nil {
		level = slog.LevelError
		attrs = append(attrs, slog.Any(names.LogError, err))
	}
	w.Log.LogAttrs(ctx, level, "replay_job.processed", attrs...)
}
