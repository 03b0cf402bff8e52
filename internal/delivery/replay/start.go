package replay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"surehook/internal/hook"
	"surehook/internal/names"
)

const (
	// firstAfter is how long the first message is held back, for the job to be written meanwhile.
	firstAfter = time.Second
	// writeWithin is how long the job may be missing after its first message was
	// sent: longer than it may take to write it.
	writeWithin = time.Minute
)

var errSlowWrite = errors.New("the job took too long to write")

// Start makes a job.
//
// Its first message goes before it: then a job that is there has a message,
// whenever this process dies, and none ever stays "running" with nobody to run
// it. A message whose job does not come within a minute is dropped. CodeInvalid
// names what is wrong with the request; after another error there is no job,
// unless only the answer was lost: then it runs, and is listed.
func (r *Replayer) Start(ctx context.Context, tenant hook.TenantID, q JobRequest) (Job, error) {
	now := r.now()
	f, err := r.filter(ctx, tenant, q, now)
	if err != nil {
		return Job{}, err
	}
	id, err := r.NewID()
	if err != nil {
		return Job{}, fmt.Errorf("make job: %w", err)
	}
	j := Job{
		ID: id, Tenant: tenant, Filter: f, Rate: q.Rate, State: JobRunning, By: q.By,
		CreatedAt: now, NextAt: now.Add(firstAfter), Selects: true,
	}
	first := Message{Tenant: tenant, Job: id, Until: now.Add(writeWithin)}
	if err := r.JobQueue.Continue(ctx, first, firstAfter); err != nil {
		return Job{}, fmt.Errorf("send first message of job %s: %w", id,
			&hook.Error{Code: hook.CodeUnavailable, Message: "the replay could not be queued; try again", Err: err})
	}
	saving, cancel := context.WithTimeoutCause(ctx, writeWithin/2, errSlowWrite)
	defer cancel()
	if err := r.save(saving, &j); err != nil {
		return Job{}, err
	}
	r.Log.LogAttrs(ctx, slog.LevelInfo, "replay.started", append(j.attrs(), slog.String(names.LogKey, string(j.By)))...)
	return j, nil
}

// Job returns the job and what became of what it enqueued; CodeNotFound if the
// tenant has none such.
func (r *Replayer) Job(ctx context.Context, tenant hook.TenantID, id hook.JobID) (Progress, error) {
	j, err := r.Jobs.Job(ctx, tenant, id)
	if err != nil {
		return Progress{}, fmt.Errorf("read job %s: %w", id, err)
	}
	return r.progress(ctx, j)
}

// List returns jobs of the tenant, the newest first, at most limit, that are
// older than before; empty: from the newest.
func (r *Replayer) List(ctx context.Context, tenant hook.TenantID, before hook.JobID, limit int) ([]Job, error) {
	var all []Job
	for len(all) < limit {
		most := min(limit-len(all), PageSize)
		page, err := r.Jobs.Jobs(ctx, tenant, before, most)
		if err != nil {
			return nil, fmt.Errorf("list jobs: %w", err)
		}
		all = append(all, page...)
		if len(page) < most {
			break
		}
		before = page[most-1].ID
	}
	return all, nil
}

// CancelJob ends the job; what it enqueued goes on, and a page that is under way
// is enqueued to its end. A job that was cancelled before is returned as it is;
// CodeConflict if it is finished.
func (r *Replayer) CancelJob(ctx context.Context, tenant hook.TenantID, id hook.JobID) (Progress, error) {
	for range cancelTries {
		j, err := r.Jobs.Job(ctx, tenant, id)
		if err != nil {
			return Progress{}, fmt.Errorf("read job %s: %w", id, err)
		}
		switch j.State {
		case JobFinished:
			return Progress{}, hook.Conflict("it is finished")
		case JobCancelled:
			return r.progress(ctx, j)
		case JobRunning:
		}
		j.end(JobCancelled, r.now())
		err = r.save(ctx, &j)
		if err == nil {
			r.Log.LogAttrs(ctx, slog.LevelInfo, "replay.cancelled", j.attrs()...)
			return r.progress(ctx, j)
		}
		if hook.CodeOf(err) != hook.CodeConflict {
			return Progress{}, err
		}
	}
	return Progress{}, busy("the replay")
}

// cancelTries is more than saveTries: a worker writes its job several times a second.
const cancelTries = 10

func (r *Replayer) progress(ctx context.Context, j Job) (Progress, error) {
	tally, err := r.Jobs.JobOutcomes(ctx, j.ID)
	if err != nil {
		return Progress{}, fmt.Errorf("read counts of job %s: %w", j.ID, err)
	}
	return Progress{Job: j, Outcomes: tally}, nil
}

// save writes the job; CodeConflict if somebody else wrote it since it was read.
// That it was written already, but the answer was lost, is success.
func (r *Replayer) save(ctx context.Context, j *Job) error {
	j.UpdatedAt = r.now()
	j.ExpiresAt = j.UpdatedAt.Add(KeepJobs)
	err := r.Jobs.SaveJob(ctx, *j)
	if hook.CodeOf(err) == hook.CodeConflict {
		stored, readErr := r.Jobs.Job(ctx, j.Tenant, j.ID)
		switch {
		case readErr != nil:
			err = readErr // who wrote it is not known: to take it for somebody else would leave the job to nobody
		case stored.is(*j):
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("save job %s: %w", j.ID, err)
	}
	j.Version++
	return nil
}

// is reports whether the stored job is what the write of j made of it.
func (j Job) is(written Job) bool {
	return j.Version == written.Version+1 && j.UpdatedAt.Equal(written.UpdatedAt) && j.State == written.State &&
		j.Selected == written.Selected && j.Enqueued == written.Enqueued && j.Skipped == written.Skipped &&
		j.Endpoint == written.Endpoint && j.Cursor == written.Cursor && slices.Equal(j.Pending, written.Pending)
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
