package erasure

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"surehook.example/surehook/internal/delivery/parallel"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

const (
	// scanPause is the shortest time between two parts of a scan, because a scan shares the
	// throughput of the table with the traffic.
	scanPause = time.Second
	// stepReserve is the time that an invocation needs for another step.
	stepReserve = 20 * time.Second
)

var (
	errTaken     = errors.New("another worker took the job")
	errSlowBegin = errors.New("storing the job took too long")
)

// Eraser runs the jobs. All fields but Metrics are required.
type Eraser struct {
	Store   Store
	Queue   replay.JobQueue
	Metrics emf.Set
	Log     *slog.Logger
	Now     func() time.Time
}

// Start marks the tenant as closing and starts the job. started is false if the tenant was
// already marked: Start then returns the running job, and sends a copy of the message that
// continues it. A tenant without any record gets a job, too.
//
// The first message is sent before the job is stored, so every stored job has a message.
func (r *Eraser) Start(ctx context.Context, tenant hook.TenantID, by hook.KeyID) (_ Erasure, started bool, err error) {
	now := r.now()
	e := Erasure{ID: hook.NewErasureID(), Tenant: tenant, By: by, CreatedAt: now, NotBefore: now, Stage: StageStop, Chain: replay.NewChain()}
	first := replay.Message{Tenant: tenant, Erasure: e.ID, Nonce: e.Next, Until: now.Add(replay.MaxSaveDelay)}
	if err := r.send(ctx, first, replay.FirstDelay); err != nil {
		return Erasure{}, false, err
	}
	saving, cancel := context.WithTimeoutCause(ctx, replay.MaxSaveDelay/2, errSlowBegin)
	defer cancel()
	stored, err := r.Store.BeginErasure(saving, e.at(now))
	if err != nil {
		return Erasure{}, false, fmt.Errorf("begin erasure of tenant %s: %w", tenant, err)
	}
	if stored.ID != e.ID { // the message of the job may be set aside
		if err := r.send(ctx, replay.Message{Tenant: tenant, Erasure: stored.ID, Nonce: stored.Next}, 0); err != nil {
			return Erasure{}, false, err
		}
		return stored, false, nil
	}
	r.Log.LogAttrs(ctx, slog.LevelInfo, "erasure.started", append(stored.attrs(), slog.String(names.LogKey, string(by)))...)
	return stored, true, nil
}

// Erasure returns the job, or CodeNotFound when the tenant has no such job.
func (r *Eraser) Erasure(ctx context.Context, tenant hook.TenantID, id hook.ErasureID) (Erasure, error) {
	return r.Store.Erasure(ctx, tenant, id)
}

// run is the processing of one message.
type run struct {
	*Eraser

	message  replay.Message
	read     Erasure // the job as read
	job      Erasure
	passed   bool // the job names another message: this worker stops
	decision string
}

// Work makes the next steps of the job. After an error the message must come again.
func (r *Eraser) Work(ctx context.Context, m replay.Message) (err error) {
	w := &run{Eraser: r, message: m}
	defer func() {
		if errors.Is(err, errTaken) {
			err = w.sendOn(ctx, replay.Taken(m))
		}
		if err != nil {
			err = fmt.Errorf("process erasure %s: %w", m.Erasure, err)
		}
		settle.LogRun(ctx, w.Log, "erasure.processed", err, append(w.job.attrs(), slog.String(names.LogDecision, w.decision))...)
	}()
	defer parallel.Recover(&err)
	w.job, err = r.Store.Erasure(ctx, m.Tenant, m.Erasure)
	if hook.CodeOf(err) == hook.CodeNotFound {
		return w.sendOn(ctx, replay.Await(m, r.now()))
	}
	if err != nil {
		return fmt.Errorf("read erasure: %w", err)
	}
	w.read = w.job
	if f := w.job.Follow(m, w.job.Stage != StageDone, w.job.NotBefore, r.now()); f.Decision != "" {
		return w.sendOn(ctx, f)
	}
	return w.steps(ctx)
}

// steps makes steps until the job must wait, is done, or the invocation runs out of time.
func (w *run) steps(ctx context.Context) error {
	for {
		switch {
		case w.job.Stage == StageDone:
			w.decision = "ended"
			return nil
		case w.passed || w.job.NotBefore.After(w.now()):
			m := w.message
			m.Nonce, m.Until = w.job.Next, time.Time{}
			return w.sendOn(ctx, replay.Following{Decision: "wait", Message: m, Delay: w.job.NotBefore.Sub(w.now())})
		}
		if err := w.step(ctx); err != nil {
			return err
		}
	}
}

// step finds and removes one part, and saves the position. At the end of a pass, step
// saves the beginning of the next pass or stage.
func (w *run) step(ctx context.Context) error {
	part, err := w.Store.FindRecords(ctx, w.job.Tenant, w.job.Stage, w.job.Cursor)
	if err != nil {
		return fmt.Errorf("find records in stage %s: %w", w.job.Stage, err)
	}
	next := w.job
	if len(part.Records) > 0 {
		if !next.Dirty {
			next.Dirty = true
			if err := w.save(ctx, next); err != nil {
				return err
			}
			next = w.job
		}
		if err := w.Store.RemoveRecords(ctx, next.Tenant, part.Records); err != nil {
			return fmt.Errorf("remove %d records in stage %s: %w", len(part.Records), next.Stage, err)
		}
		next.Removed.add(part.Records)
	}
	next.Cursor = part.Next
	if part.Next != "" {
		if next.Stage == StageScan {
			next.NotBefore = w.now().Add(scanPause)
		}
	} else if next = next.afterPass(w.now()); next.Stage == StageDone {
		return w.finish(ctx, next)
	}
	now := w.now()
	passes := next.NotBefore.After(now) || w.outOfTime(ctx)
	if passes {
		next.PassOn()
		if next.NotBefore.Before(now) { // otherwise the next message would look overdue
			next.NotBefore = now
		}
	}
	err = w.save(ctx, next)
	w.passed = passes && err == nil
	return err
}

// afterPass returns the job at the end of a pass.
func (e Erasure) afterPass(now time.Time) Erasure {
	e.NotBefore = now.Add(Quiet)
	dirty := e.Dirty
	e.Dirty = false
	switch e.Stage {
	case StageStop:
		e.Stage = StageWalk
	case StageWalk, StageScan:
		e.Passes++
		if dirty {
			break
		}
		// The pass began Quiet after the last removal, but workers with an old position may still
		// be running, so finish waits, too.
		if e.Stage == StageWalk {
			e.NotBefore = now
		}
		e.Stage++
	case StageFinish:
		e.Stage, e.EndedAt, e.NotBefore = StageDone, now, time.Time{}
	case StageDone:
	}
	return e
}

func (w *run) finish(ctx context.Context, e Erasure) error {
	if err := w.write(ctx, e, w.Store.FinishErasure); err != nil {
		return fmt.Errorf("finish erasure: %w", err)
	}
	w.Log.LogAttrs(ctx, slog.LevelInfo, "erasure.finished", w.job.attrs()...)
	return nil
}

func (w *run) save(ctx context.Context, e Erasure) error {
	if err := w.write(ctx, e, w.Store.SaveErasure); err != nil {
		return fmt.Errorf("save erasure: %w", err)
	}
	return nil
}

// write writes the job by put, and makes the written job the job of the run. A conflict is errTaken, possibly
// with this call's own write, whose answer was lost: the next message then finds the job as written.
func (w *run) write(ctx context.Context, e Erasure, put func(context.Context, Erasure) error) error {
	e = e.at(w.now())
	err := put(ctx, e)
	switch {
	case err == nil:
		e.Version++
		w.job = e
	case hook.CodeOf(err) == hook.CodeConflict:
		return errTaken
	}
	return err
}

// at returns the job as written at the time.
func (e Erasure) at(now time.Time) Erasure {
	e.UpdatedAt, e.ExpiresAt = now, now.Add(Keep)
	return e
}

func (w *run) outOfTime(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && deadline.Sub(w.Now()) < stepReserve
}

// sendOn makes f the decision of the run, and sends the message of f.
func (w *run) sendOn(ctx context.Context, f replay.Following) error {
	w.decision = f.Decision
	c := replay.Courier{Queue: w.Queue, Metrics: w.Metrics, Log: w.Log, Now: w.Now}
	if err := c.SendOn(ctx, w.message, f, w.job.Version != w.read.Version); err != nil {
		return fmt.Errorf("continue erasure: %w", err)
	}
	return nil
}

func (r *Eraser) send(ctx context.Context, m replay.Message, delay time.Duration) error {
	if err := r.Queue.Continue(ctx, m, delay); err != nil {
		return fmt.Errorf("send message of erasure %s: %w", m.Erasure,
			&hook.Error{Code: hook.CodeUnavailable, Message: "the erasure could not be queued; try again", Err: err})
	}
	return nil
}

func (r *Eraser) now() time.Time { return r.Now().UTC().Truncate(time.Millisecond) }

func (e Erasure) attrs() []slog.Attr {
	return []slog.Attr{
		slog.String(names.LogTenant, string(e.Tenant)),
		slog.String(names.LogJob, string(e.ID)),
		slog.String(names.LogState, e.Stage.String()),
		slog.Int(names.LogPages, e.Passes),
	}
}
