package replay

import (
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
	// ahead is how far before its time a page may be sent, for its tokens wait, and
	// how late it may be without the next being later for it: what messages take on
	// their way must not slow the job down.
	ahead = time.Second
	// takenAfter is when a worker that lost its job to another looks after it again.
	// Both may have been given the same message: when this one is done with it, the
	// other's is gone, too, and if that one fails, nobody goes on.
	takenAfter = time.Minute
	// workReserve is what an invocation must have left to begin another page.
	workReserve = 10 * time.Second
)

// The decisions, as they appear in logs.
const (
	decideWait  = "wait"  // the rate, or the invocation's time, has no room: go on later
	decideAwait = "await" // the job is not written yet
	decideGone  = "gone"  // there is no such job
	decideTaken = "taken" // somebody else goes on with the job
	decideEnded = "ended" // there is nothing left to do
)

// errTaken ends work on a job that somebody else goes on with.
var errTaken = errors.New("the job was taken up by somebody else")

// work is one message's worth of a job.
type work struct {
	*Replayer

	message Message
	job     Job
	chosen  []hook.Delivery   // the pending page as it was selected; nil when somebody else did
	from    time.Time         // when the pending page begins, at the job's rate
	walked  []hook.EndpointID // endpoints; nil: not read yet

	decision                         string
	pages, selected, enqueued, skips int
}

// Work makes the job of the message go on: by a page, or by several as long as
// its rate and the invocation's time have room. An error says that the message
// must come again; what was done before is not done twice.
func (r *Replayer) Work(ctx context.Context, m Message) (err error) {
	w := &work{Replayer: r, message: m, job: Job{ID: m.Job, Tenant: m.Tenant}}
	defer func() {
		// A panic over one job must not take the others of a batch with it.
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		if errors.Is(err, errTaken) {
			w.decision, err = decideTaken, w.next(ctx, Message{Tenant: m.Tenant, Job: m.Job}, takenAfter)
		}
		if err != nil {
			err = fmt.Errorf("work on job %s: %w", m.Job, err)
		}
		w.log(ctx, err)
	}()
	w.job, err = r.Jobs.Job(ctx, m.Tenant, m.Job)
	if hook.CodeOf(err) == hook.CodeNotFound {
		return w.absent(ctx)
	}
	if err != nil {
		return fmt.Errorf("read job: %w", err)
	}
	return w.run(ctx)
}

// absent waits for a job that may still be written.
func (w *work) absent(ctx context.Context) error {
	if w.now().Before(w.message.Until) {
		w.decision = decideAwait
		return w.next(ctx, w.message, firstAfter)
	}
	w.decision = decideGone
	return nil
}

func (w *work) run(ctx context.Context) error {
	for {
		if len(w.job.Pending) > 0 {
			// Also if the job was cancelled: some of the page's tokens may be out.
			if err := w.finish(ctx); err != nil {
				return err
			}
			continue
		}
		if w.job.State != JobRunning {
			w.decision = decideEnded
			return nil
		}
		wait := w.job.NextAt.Sub(w.now())
		if wait >= ahead || w.pages > 0 && w.late(ctx) {
			w.decision = decideWait
			return w.next(ctx, Message{Tenant: w.job.Tenant, Job: w.job.ID}, max(0, wait).Truncate(time.Second))
		}
		if err := w.begin(ctx); err != nil {
			return err
		}
	}
}

// late reports whether the invocation has too little time left for another page.
func (w *work) late(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && deadline.Sub(w.Now()) < workReserve
}

func (w *work) next(ctx context.Context, m Message, delay time.Duration) error {
	if err := w.JobQueue.Continue(ctx, m, delay); err != nil {
		return fmt.Errorf("ask for the next page: %w", err)
	}
	return nil
}

func (w *work) log(ctx context.Context, err error) {
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String(names.LogTenant, string(w.job.Tenant)),
		slog.String(names.LogJob, string(w.message.Job)),
		slog.String(names.LogState, w.job.State.String()),
		slog.String(names.LogDecision, w.decision),
		slog.Int(names.LogPages, w.pages),
		slog.Int(names.LogSelected, w.selected),
		slog.Int(names.LogEnqueued, w.enqueued),
		slog.Int(names.LogSkipped, w.skips),
	}
	if err != nil {
		level = slog.LevelError
		attrs = append(attrs, slog.Any(names.LogError, err))
	}
	w.Log.LogAttrs(ctx, level, "replay_job.processed", attrs...)
}
