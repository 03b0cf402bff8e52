package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"surehook/internal/delivery/replay"
	"surehook/internal/hook"
)

// tally is what the deliveries of a job were counted as.
type tally struct {
	slots map[int]hook.State // delivered, dead or cancelled
	total replay.Outcomes
}

// Job returns the job; CodeNotFound if the tenant has none such.
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

// SaveJob writes the job as version j.Version+1; CodeConflict if the stored
// version is not j.Version (0: no record), and nothing is written.
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
	if stored != nil {
		t.jobs.remove(stored)
	}
	j.Version++
	kept := storedJob(j)
	t.jobs.add(&kept)
	return nil
}

// Jobs returns jobs of the tenant, the newest first, at most limit (1 to 100),
// that are older than before; empty: from the newest.
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

// RecordOutcome counts the settled delivery, once however often it is told, for the job
// that it belongs to. One that is told to be several things counts as delivered
// rather than dead, and as dead rather than cancelled.
func (s *Store) RecordOutcome(ctx context.Context, d hook.Delivery) error {
	op := "count delivery " + d.ID.String() + " for its job"
	if err := available(ctx, op); err != nil {
		return err
	}
	if d.Job == "" || !d.State.Settled() {
		return fmt.Errorf("%s: %w", op, &hook.Error{Code: hook.CodeInternal, Message: "it is of no job, or not settled: " + d.State.String()})
	}
	state := d.State
	if state == hook.StateDiscarded {
		state = hook.StateCancelled
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	t := s.tallies[d.Job]
	if t == nil {
		t = &tally{slots: make(map[int]hook.State)}
		s.tallies[d.Job] = t
	}
	before := t.slots[d.JobIndex]
	if before != 0 && before <= state { // the states are numbered in the order of their rank
		return nil
	}
	t.slots[d.JobIndex] = state
	t.add(before, -1)
	t.add(state, 1)
	return nil
}

// add counts n more of what counts as the state; the zero state counts as nothing.
func (t *tally) add(state hook.State, n int) {
	switch state { //nolint:exhaustive // nothing else is tallied
	case hook.StateDelivered:
		t.total.Delivered += n
	case hook.StateDead:
		t.total.Dead += n
	case hook.StateCancelled:
		t.total.Cancelled += n
	}
}

// JobOutcomes returns how many deliveries of the job were counted as settled.
func (s *Store) JobOutcomes(ctx context.Context, id hook.JobID) (replay.Outcomes, error) {
	if err := available(ctx, "read counts of job "+string(id)); err != nil {
		return replay.Outcomes{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	if t := s.tallies[id]; t != nil {
		return t.total, nil
	}
	return replay.Outcomes{}, nil
}

// job returns the job, or nil.
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

// storedJob returns the job as it is kept, a copy.
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
