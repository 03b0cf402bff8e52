package replay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"surehook.example/surehook/internal/delivery/parallel"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

const (
	// pageLead is how early a page may be sent; its tasks carry the remaining delay. So a page
	// that is late by no more than this does not delay the next one, and the travel time of the
	// messages does not lower the rate.
	pageLead = time.Second
	// pageReserve is the time that an invocation must have left to begin another page.
	pageReserve = 10 * time.Second
)

// The decisions, as logged.
const (
	decideWait  = "wait"  // the rate or the invocation's time allows no further page: continue later
	decideAwait = "await" // the job may not have been saved yet: look again
	decideGone  = "gone"  // no such job
	decideTaken = "taken" // another worker or message continues the job: look again later
	decideAgain = "again" // the next message seems to be lost: send a copy
	decideStale = "stale" // another message continues the job: drop this one
	decideEnded = "ended" // nothing left to do
)

// errTaken ends the run if another worker has taken the job.
var errTaken = errors.New("another worker took the job")

// jobRun is the processing of one message of a job.
type jobRun struct {
	*Replayer

	message   Message
	job       Job
	read      Job                                // the job as read
	records   map[hook.DeliveryRef]hook.Delivery // records of the pending page; nil if another process selected it
	from      time.Time                          // when the pending page starts at the job's rate
	endpoints []hook.Target                      // endpoints of the filter; nil: not read yet

	decision string
	pages    int
}

// Work continues the job of the message: one page, or several if the rate and the time of the
// invocation allow. After an error the message must come again; steps that are complete are not
// repeated.
func (r *Replayer) Work(ctx context.Context, m Message) (err error) {
	w := &jobRun{Replayer: r, message: m, job: Job{ID: m.Job, Tenant: m.Tenant}}
	defer func() {
		if errors.Is(err, errTaken) {
			err = w.sendOn(ctx, Taken(m))
		}
		if err != nil {
			err = fmt.Errorf("process job %s: %w", m.Job, err)
		}
		run := w.job // what it did alone
		run.Selected, run.Enqueued, run.Skipped = run.Selected-w.read.Selected, run.Enqueued-w.read.Enqueued, run.Skipped-w.read.Skipped
		settle.LogRun(ctx, w.Log, "replay_job.processed", err, append(run.attrs(), slog.String(names.LogDecision, w.decision), slog.Int(names.LogPages, w.pages))...)
	}()
	defer parallel.Recover(&err)
	j, err := r.Store.Job(ctx, m.Tenant, m.Job)
	if hook.CodeOf(err) == hook.CodeNotFound {
		return w.sendOn(ctx, Await(m, w.now()))
	}
	if err != nil {
		return err
	}
	w.read, w.job = j, j
	runs := w.job.State == JobRunning || len(w.job.Pending) > 0
	if f := w.job.Follow(m, runs, w.job.NextAt, w.now()); f.Decision != "" {
		return w.sendOn(ctx, f)
	}
	return w.processPages(ctx)
}

func (w *jobRun) processPages(ctx context.Context) error {
	for {
		if len(w.job.Pending) > 0 {
			// Even if the job is cancelled: some tasks of the page may be on the queue.
			if err := w.sendPage(ctx); err != nil {
				return err
			}
			continue
		}
		if w.job.State != JobRunning {
			w.decision = decideEnded
			return nil
		}
		if passed := w.job.Next != w.message.Nonce; passed || w.mustWait(ctx, w.job) {
			wait := max(0, w.job.NextAt.Sub(w.now())).Truncate(time.Second)
			return w.sendOn(ctx, Following{Decision: decideWait, Message: w.message.successor(w.job.Next), Delay: wait})
		}
		if err := w.selectPage(ctx); err != nil {
			return err
		}
	}
}

// mustWait reports whether the next page of the job must be left to a later message.
func (w *jobRun) mustWait(ctx context.Context, j Job) bool {
	return j.NextAt.Sub(w.now()) >= pageLead || w.pages > 0 && w.outOfTime(ctx)
}

// outOfTime reports whether the invocation has too little time left for another page.
func (w *jobRun) outOfTime(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && deadline.Sub(w.Now()) < pageReserve
}

// sendOn records the decision of f, and enqueues its message.
func (w *jobRun) sendOn(ctx context.Context, f Following) error {
	w.decision = f.Decision
	c := Courier{Queue: w.JobQueue, Metrics: w.Metrics, Log: w.Log, Now: w.Now}
	return c.SendOn(ctx, w.message, f, w.progressed())
}
