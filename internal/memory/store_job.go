package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"surehook/internal/delivery/replay"
	"surehook/internal/hook"
)

// outcomes counts the settled deliveries of a job.
type outcomes struct {
	states map[int]hook.State // delivered, dead or cancelled, by job index
	total  replay.Outcomes
}

// Job returns a copy of the job.
func (s *Store) Job(ctx context.Context, id hook.TenantID, job hook.JobID) (replay.Job, error) {
	op := "read job " + string(job)
	if err := available(ctx, op); err != nil {
		return replay.Job{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	if j := s.tenantOf(id).job(job); j != nil {
		return copyJob(*j), nil
	}
	return replay.Job{}, fmt.Errorf("%s: %w", op, hook.NotFound("replay"))
}

// SaveJob stores a copy of the job.
func (s *Store) SaveJob(ctx context.Context, j replay.Job) error {
	op := "save job " + string(j.ID)
	if err := available(ctx, op); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	var version int64
	t := s.tenantOf(j.Tenant)
	stored := t.job(j.ID)
	if stored != nil {
		version = stored.Version
	}
	if version != j.Version {
		return fmt.Errorf("%s: %w", op, hook.Conflict("the job was changed meanwhile"))
	}
	if stored == nil && j.State == replay.JobRunning && len(t.open) >= replay.MaxOpenJobs {
		return fmt.Errorf("%s: %w", op, replay.ErrOpenJobs())
	}
	if stored != nil {
		t.jobs.remove(stored)
	}
	if j.State != replay.JobRunning {
		delete(t.open, j.ID)
	} else if stored == nil {
		t.open[j.ID] = true
	}
	j.Version++
	kept := storedJob(j)
	t.jobs.add(&kept)
	return nil
}

// Jobs cuts limit to 1 to 100.
func (s *Store) Jobs(ctx context.Context, id hook.TenantID, before hook.JobID, limit int) ([]replay.Job, error) {
	if err := available(ctx, "list jobs of tenant "+string(id)); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	all := s.tenantOf(id).jobs
	rows := all.backward()
	if before != "" {
		rows = all.before(&replay.Job{ID: before})
	}
	var jobs []replay.Job
	for j := range rows {
		if len(jobs) == min(max(limit, 1), maxPage) {
			break
		}
		jobs = append(jobs, copyJob(*j))
	}
	return jobs, nil
}

// RecordOutcome counts a delivery once. For a delivery recorded with several
// states, delivered takes precedence over dead, and dead over cancelled.
func (s *Store) RecordOutcome(ctx context.Context, d hook.Delivery) error {
	op := "record outcome of delivery " + d.ID.String()
	if err := available(ctx, op); err != nil {
		return err
	}
	if d.Job == "" || !d.State.Settled() {
		return fmt.Errorf("%s: %w", op, &hook.Error{Code: hook.CodeInternal, Message: "the delivery belongs to no job, or is not settled: " + d.State.String()})
	}
	state := d.State
	if state == hook.StateDiscarded {
		state = hook.StateCancelled
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	o := s.outcomes[d.Job]
	if o == nil {
		o = &outcomes{states: make(map[int]hook.State)}
		s.outcomes[d.Job] = o
	}
	before := o.states[d.JobIndex]
	if before != 0 && before <= state { // the numbers of the states have the order of precedence
		return nil
	}
	o.states[d.JobIndex] = state
	o.add(before, -1)
	o.add(state, 1)
	return nil
}

// add adds n to the count of the state. The zero state has no count.
func (o *outcomes) add(state hook.State, n int) {
	switch state { //nolint:exhaustive // only three states are counted
	case hook.StateDelivered:
		o.total.Delivered += n
	case hook.StateDead:
		o.total.Dead += n
	case hook.StateCancelled:
		o.total.Cancelled += n
	}
}

// JobOutcomes returns the zero Outcomes for an unknown job.
func (s *Store) JobOutcomes(ctx context.Context, id hook.JobID) (replay.Outcomes, error) {
	if err := available(ctx, "read outcomes of job "+string(id)); err != nil {
		return replay.Outcomes{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	if o := s.outcomes[id]; o != nil {
		return o.total, nil
	}
	return replay.Outcomes{}, nil
}

// job returns the stored job, or nil.
func (t *tenant) job(id hook.JobID) *replay.Job {
	for j := range t.jobs.from(&replay.Job{ID: id}) {
		if j.ID == id {
			return j
		}
		break
	}
	return nil
}

func compareJobs(a, b *replay.Job) int { return strings.Compare(string(a.ID), string(b.ID)) }

// storedJob returns a copy in the stored form.
func storedJob(j replay.Job) replay.Job {
	j.Filter.From, j.Filter.To = storedTime(j.Filter.From), storedTime(j.Filter.To)
	j.CreatedAt, j.UpdatedAt = storedTime(j.CreatedAt), storedTime(j.UpdatedAt)
	j.EndedAt, j.NextAt = storedTime(j.EndedAt), storedTime(j.NextAt)
	j.ExpiresAt = storedExpiry(j.ExpiresAt)
	return copyJob(j)
}

func copyJob(j replay.Job) replay.Job {
	j.Filter.Types = slices.Clone(j.Filter.Types)
	j.Pending = slices.Clone(j.Pending)
	return j
}
