package replay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/store"
)

const (
	// FirstDelay delays the first message, so that usually the job is saved before a worker
	// receives it.
	FirstDelay = time.Second
	// MaxSaveDelay is how long after the first message the job may be saved. Start allows half
	// of it for the save, 30 s.
	MaxSaveDelay = time.Minute
)

var errSlowSave = errors.New("saving the job took too long")

// Start makes a job and starts it.
//
// The first message is sent before the job is saved, so that every saved job has a message, and
// no crash leaves a running job without a worker. A worker drops a message that has had no job
// for one minute.
//
// CodeInvalid names the wrong fields of the request. CodeThrottled means that MaxOpenJobs jobs
// of the tenant are running. After any other error there is usually no job, but if only the
// response of the save was lost, the job runs, and List returns it.
func (r *Replayer) Start(ctx context.Context, tenant hook.TenantID, q JobRequest) (Job, error) {
	now := r.now()
	f, err := r.newFilter(ctx, tenant, q, now)
	if err != nil {
		return Job{}, err
	}
	j := Job{
		ID: r.NewID(), Tenant: tenant, Filter: f, Terms: q.Terms, State: JobRunning, CreatedAt: now, NextAt: now.Add(FirstDelay), Selects: true, Chain: NewChain(),
	}
	first := Message{Tenant: tenant, Job: j.ID, Nonce: j.Next, Until: now.Add(MaxSaveDelay)}
	if err := r.JobQueue.Continue(ctx, first, FirstDelay); err != nil {
		return Job{}, fmt.Errorf("send first message of job %s: %w", j.ID,
			&hook.Error{Code: hook.CodeUnavailable, Message: "the replay could not be queued; try again", Err: err})
	}
	saving, cancel := context.WithTimeoutCause(ctx, MaxSaveDelay/2, errSlowSave)
	defer cancel()
	if err := r.saveJob(saving, &j); err != nil {
		return Job{}, err
	}
	r.Log.LogAttrs(ctx, slog.LevelInfo, "replay.started", append(j.attrs(), slog.String(names.LogKey, string(j.By)))...)
	return j, nil
}

// Job returns the job with the outcomes of the enqueued deliveries, or
// CodeNotFound when the tenant has no such job.
func (r *Replayer) Job(ctx context.Context, tenant hook.TenantID, id hook.JobID) (Progress, error) {
	j, err := r.Store.Job(ctx, tenant, id)
	if err != nil {
		return Progress{}, err
	}
	return r.progress(ctx, j)
}

func (r *Replayer) progress(ctx context.Context, j Job) (Progress, error) {
	outcomes, err := r.Store.JobOutcomes(ctx, j.ID)
	return Progress{Job: j, Outcomes: outcomes}, err
}

// CancelJob ends the job. Deliveries that are already enqueued continue, and a worker still
// enqueues the pending page. If the job was already cancelled, it is returned unchanged; a
// finished job gives CodeConflict.
func (r *Replayer) CancelJob(ctx context.Context, tenant hook.TenantID, id hook.JobID) (Progress, error) {
	before, j, err := r.jobs().Update(ctx, Message{Tenant: tenant, Job: id}, func(j Job) (Job, bool, error) {
		if j.State == JobFinished {
			return j, false, hook.Conflict("it is finished")
		}
		runs := j.State == JobRunning
		if runs {
			j.end(JobCancelled, r.now())
		}
		return j, runs, nil
	})
	if err != nil {
		return Progress{}, err
	}
	if j.Version != before.Version {
		r.Log.LogAttrs(ctx, slog.LevelInfo, "replay.cancelled", j.attrs()...)
	}
	return r.progress(ctx, j)
}

// jobs are the replay jobs, by their messages.
func (r *Replayer) jobs() store.Table[Message, Job] {
	return store.Table[Message, Job]{
		Name: "the replay", Wait: r.Wait,
		Read: func(ctx context.Context, m Message) (Job, error) { return r.Store.Job(ctx, m.Tenant, m.Job) },
		Write: func(ctx context.Context, _ Message, _, next Job) (Job, error) {
			err := r.saveJob(ctx, &next)
			return next, err
		},
	}
}

// saveJob saves the job. CodeConflict means that another writer saved it since the read.
func (r *Replayer) saveJob(ctx context.Context, j *Job) error {
	j.UpdatedAt = r.now()
	j.ExpiresAt = j.UpdatedAt.Add(KeepJobs)
	err := r.Store.SaveJob(ctx, *j)
	if err == nil {
		j.Version++
	}
	return err
}

func (j *Job) end(state JobState, now time.Time) { j.State, j.EndedAt = state, now }

func (j Job) attrs() []slog.Attr {
	return []slog.Attr{
		slog.String(names.LogTenant, string(j.Tenant)),
		slog.String(names.LogJob, string(j.ID)),
		slog.String(names.LogState, j.State.String()),
		slog.Int(names.LogSelected, j.Selected),
		slog.Int(names.LogEnqueued, j.Enqueued),
		slog.Int(names.LogSkipped, j.Skipped),
	}
}
