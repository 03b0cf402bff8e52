package deliver

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"surehook/internal/delivery/gate"
	"surehook/internal/emf"
	"surehook/internal/hook"
	"surehook/internal/names"
)

// Message is an encoded token, as received from the queue.
type Message struct {
	ID   string
	Body string
}

// Deliverer processes batches of tokens. All fields must be set. With an empty
// environment in Metrics, no metrics are written.
type Deliverer struct {
	Store       Store
	Queue       Queue
	Schedules   Schedules
	DeadLetters DeadLetters
	Vault       Vault
	Sender      Sender
	Gate        Gate
	Settlement  Settlement
	Notifier    Notifier
	Metrics     emf.Set
	Log         *slog.Logger
	Now         func() time.Time
}

// ProcessBatch processes the messages concurrently and returns the ids of the
// failed messages, to be received again. A failed message does not affect the
// other messages.
func (d *Deliverer) ProcessBatch(ctx context.Context, messages []Message) (failed []string) {
	jobs := decodeMessages(messages)
	d.processJobs(ctx, uniqueJobs(jobs))
	for _, j := range jobs {
		if j.err != nil {
			d.Log.ErrorContext(ctx, "delivery.postponed", slog.String(names.LogMessage, j.message.ID), slog.Any(names.LogError, j.err))
			failed = append(failed, j.message.ID)
		}
	}
	return failed
}

// job is one message of a batch.
type job struct {
	message Message
	subject       // only the token until judgeJob finds the records
	err     error // not nil: the message fails
}

func decodeMessages(messages []Message) []*job {
	jobs := make([]*job, len(messages))
	for i, m := range messages {
		token, err := hook.DecodeToken(m.Body)
		if err != nil {
			err = fmt.Errorf("decode message: %w", err)
		}
		jobs[i] = &job{message: m, subject: subject{token: token}, err: err}
	}
	return jobs
}

// uniqueJobs returns the decoded jobs, one per attempt. Further tokens of the same
// attempt succeed at once: the first token stays on the queue until the attempt
// is settled.
func uniqueJobs(jobs []*job) []*job {
	type attempt struct {
		hook.DeliveryID
		number int
	}
	unique := make([]*job, 0, len(jobs))
	seen := make(map[attempt]bool, len(jobs))
	for _, j := range jobs {
		key := attempt{j.token.Delivery, j.token.Attempt}
		if j.err == nil && !seen[key] {
			seen[key] = true
			unique = append(unique, j)
		}
	}
	return unique
}

// processJobs loads the records, records new replays, judges each token, and
// processes the due tokens of each endpoint together.
func (d *Deliverer) processJobs(ctx context.Context, jobs []*job) {
	snapshot, err := d.loadSnapshot(ctx, jobs)
	if err != nil {
		for _, j := range jobs {
			j.err = err
		}
		return
	}
	jobs = d.recordReplays(ctx, jobs, snapshot)
	now := d.Now()
	made := &results{}
	var wg sync.WaitGroup
	due := make(map[hook.EndpointID][]*job)
	for _, j := range jobs {
		switch st := d.judgeJob(ctx, j, snapshot, now); st {
		case stepDrop:
		case stepResume, stepDefer, stepExpire:
			wg.Go(func() { made.run(j, func() (gate.Result, error) { return d.applyStep(ctx, &j.subject, st, now) }) })
		case stepAttempt:
			due[j.token.Delivery.Endpoint] = append(due[j.token.Delivery.Endpoint], j)
		}
	}
	for id, waiting := range due {
		record := snapshot.circuit(waiting[0].token.Tenant, id)
		wg.Go(func() { d.processEndpoint(ctx, waiting, record, made) })
	}
	wg.Wait()
	d.logMetrics(ctx, made.all)
}

func (d *Deliverer) loadSnapshot(ctx context.Context, jobs []*job) (Snapshot, error) {
	if len(jobs) == 0 {
		return Snapshot{}, nil
	}
	tokens := make([]hook.Token, len(jobs))
	for i, j := range jobs {
		tokens[i] = j.token
	}
	snapshot, err := d.Store.Load(ctx, tokens)
	if err != nil {
		return Snapshot{}, fmt.Errorf("load the records of %d tokens: %w", len(tokens), err)
	}
	return snapshot, nil
}

// judgeJob finds the job's records and returns the next step.
func (d *Deliverer) judgeJob(ctx context.Context, j *job, snapshot Snapshot, now time.Time) step {
	found, ok, err := findSubject(j.token, snapshot)
	if err != nil {
		j.err = fmt.Errorf("find delivery %s: %w", j.token.Delivery, err)
		return stepDrop
	}
	if !ok {
		d.logDropped(ctx, j.token, "the event is gone, or no replay is recorded")
		return stepDrop
	}
	j.subject = found
	st, reason := judgeToken(&j.subject, now)
	if st == stepDrop {
		d.logDropped(ctx, j.token, reason)
	}
	return st
}
