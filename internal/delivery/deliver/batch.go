package deliver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"surehook.example/surehook/internal/delivery/attempt"
	"surehook.example/surehook/internal/delivery/parallel"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/store"
)

// Message is an encoded task, as received from the queue.
type Message struct {
	ID    string
	Body  string
	Queue hook.Queue // that it came from; zero stands for live, retry or replay, which are treated alike
}

// Deliverer processes batches of tasks. All fields without a remark must be set. With an empty
// environment in Metrics, no metrics are written.
type Deliverer struct {
	Store    Store
	Gate     Gate
	Attempts Attempter
	Settler  Settler
	Metrics  emf.Set
	Log      *slog.Logger
	Now      func() time.Time
	Wait     store.Wait // between two tries of a write; nil: by the real clock
}

// ProcessBatch processes the messages concurrently and returns the ids of the failed messages,
// which must be received again. A failed message fails no other one, but all return together, after the
// last attempt.
func (d *Deliverer) ProcessBatch(ctx context.Context, messages []Message) (failed []string) {
	jobs := decodeMessages(messages)
	d.processJobs(ctx, uniqueJobs(jobs))
	for _, j := range jobs {
		if j.err != nil {
			d.Log.LogAttrs(ctx, levelOf(j.err), "delivery.postponed", slog.String(names.LogMessage, j.message.ID), slog.Any(names.LogError, j.err))
			failed = append(failed, j.message.ID)
		}
	}
	return failed
}

// levelOf returns the log level of a failed message. Two tasks for one attempt are normal: a
// repeated post or follow-up sends a second one. It is also normal that a redriven dead letter
// comes before the record of the death.
func levelOf(err error) slog.Level {
	if errors.Is(err, errOtherTask) || errors.Is(err, errEarlyRedrive) {
		return slog.LevelInfo
	}
	return slog.LevelError
}

func decodeMessages(messages []Message) []*job {
	jobs, room := make([]*job, len(messages)), make([]job, len(messages))
	for i, m := range messages {
		j := &room[i]
		j.message = m
		if j.Task, j.err = hook.DecodeTask(m.Body); j.err != nil {
			j.err = fmt.Errorf("decode message: %w", j.err)
		}
		jobs[i] = j
	}
	return jobs
}

// uniqueJobs returns the decoded jobs, one per task. A further message with the same task
// succeeds at once, because the first message stays on the queue until the task is processed.
// Tasks with different nonces are different jobs: the record decides which of them resumes.
func uniqueJobs(jobs []*job) []*job {
	unique := make([]*job, 0, len(jobs))
	for _, j := range jobs {
		same := func(other *job) bool {
			return other.Task.Nonce == j.Task.Nonce && attemptOf(other.Task) == attemptOf(j.Task)
		}
		if j.err == nil && !slices.ContainsFunc(unique, same) {
			unique = append(unique, j)
		}
	}
	return unique
}

// processJobs loads the records of the jobs and processes them: all at once, or, of the queue
// coalesce, in parts one after the other if the events are large: a part begins after the slowest attempt of the one
// before. Ten tasks are one part: see loadPart.
func (d *Deliverer) processJobs(ctx context.Context, jobs []*job) {
	for first := true; len(jobs) > 0; first = false {
		if !first && !attempt.HasTime(ctx, d.Now(), hook.MaxTimeout) {
			failAll(jobs, attempt.ErrNoTime)
			return
		}
		loaded, snapshot, rest := d.loadPart(ctx, jobs)
		d.processLoaded(ctx, slices.Clone(loaded), snapshot)
		for _, j := range loaded {
			j.Event = nil // free the memory for the next part
		}
		jobs = rest
	}
}

// processLoaded records new replays, and then processes the tasks of each endpoint together.
func (d *Deliverer) processLoaded(ctx context.Context, jobs []*job, snapshot Snapshot) {
	jobs = d.recordReplays(ctx, readable(jobs, &snapshot), snapshot)
	now := d.Now()
	byEndpoint := make(map[hook.EndpointID][]*job)
	for _, j := range jobs {
		id := j.Task.Delivery.Endpoint
		byEndpoint[id] = append(byEndpoint[id], j)
	}
	endpoints := slices.Collect(maps.Values(byEndpoint))
	parallel.Each(len(endpoints), len(endpoints), func(i int) error {
		d.process(ctx, endpoints[i], &snapshot, now)
		return nil // each job holds its own error
	})
	d.logMetrics(ctx, jobs)
}

// readable fails the jobs whose records could not all be read, and returns the others.
func readable(jobs []*job, snapshot *Snapshot) []*job {
	return slices.DeleteFunc(jobs, func(j *job) bool {
		if fault, ok := snapshot.Faults[j.Task]; ok {
			j.err = fmt.Errorf("load the records of %s: %w", j.Task.Delivery, fault)
		}
		return j.err != nil
	})
}
