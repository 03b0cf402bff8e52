package replay

import (
	"context"
	"errors"
	"time"

	"surehook.example/surehook/internal/delivery/parallel"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
)

// maxParallel limits the records read or written at the same time.
const maxParallel = 16

// candidate is a delivery with a replay request.
type candidate struct {
	delivery hook.Delivery // the delivery to replay; afterwards as recorded with the replay
	request  hook.ReplayRequest
	delay    time.Duration // of the task, in whole seconds

	sent bool  // the queue holds the task
	skip Skip  // final: why the delivery is not replayed; empty: it is
	err  error // with skip: the same, for a request by hand; without: something failed, and the request may be repeated
}

// queued reports whether the delivery is queued, with a record or without. Its replay sends the
// first task again and makes no new generation.
func (c *candidate) queued() bool {
	return c.delivery.Version == 0 || c.delivery.State == hook.StateQueued
}

// recordedIn reports whether the record d names this request as its replay. A Replayer wrote
// that, or function deliver with the request from the task.
func (c *candidate) recordedIn(d hook.Delivery) bool {
	by := d.Replayed
	return by.Generation != 0 && by.Job == c.request.Job && by.JobIndex == c.request.JobIndex && by.By == c.request.By
}

func (c *candidate) task() hook.Task {
	if c.queued() {
		return c.delivery.NextTask()
	}
	t := hook.NewTask(c.delivery.Tenant, c.delivery.Successor(), 1)
	t.ReplayRequest = c.request
	return t
}

// enqueue sends the tasks of the replays, and then records the replays that were sent. Each
// candidate holds its own result; refused ones are skipped. A replay that is already recorded
// for the same job counts as sent, without another task.
func (r *Replayer) enqueue(ctx context.Context, candidates []*candidate) {
	now := r.now()
	var unsent []*candidate
	for _, c := range candidates {
		if c.skip != "" {
			continue
		}
		if c.sent = c.request.Job != "" && c.recordedIn(c.delivery); c.sent {
			continue
		}
		if _, err := c.delivery.Replay(c.request, now); err != nil {
			c.skip, c.err = skipOf(c.delivery, err, now), err
			continue
		}
		unsent = append(unsent, c)
	}
	r.sendTasks(ctx, unsent)
	_ = forEach(len(candidates), func(i int) error {
		if c := candidates[i]; c.sent && !c.queued() {
			r.recordReplay(ctx, c, now)
		}
		return nil // the candidate holds the error
	})
}

// sendTasks sends the tasks, with one call for those that have the same delay.
func (r *Replayer) sendTasks(ctx context.Context, candidates []*candidate) {
	for _, together := range parallel.Groups(candidates, func(c *candidate) time.Duration { return c.delay }) {
		tasks := make([]hook.Task, len(together))
		for i, c := range together {
			tasks[i], c.sent = c.task(), true
		}
		for i, err := range r.Queue.Send(ctx, hook.QueueReplay, tasks, together[0].delay) {
			together[i].err, together[i].sent = err, err == nil
		}
	}
}

// recordReplay writes the replay into the old record. The task is already on the queue, so the
// candidate is refused only if the record is missing or no longer accepts the replay.
func (r *Replayer) recordReplay(ctx context.Context, c *candidate, now time.Time) {
	_, d, err := settle.Deliveries(r.Store, r.Wait).UpdateFrom(ctx, c.delivery, c.delivery.Ref(), func(d hook.Delivery) (hook.Delivery, bool, error) {
		if c.recordedIn(d) {
			return d, false, nil
		}
		next, refused := d.Replay(c.request, now) // function deliver writes the same record for the task
		if refused != nil {
			c.skip, c.err = skipOf(d, refused, now), refused
		}
		return next, refused == nil, nil
	})
	switch {
	case c.skip != "":
	case hook.CodeOf(err) == hook.CodeNotFound:
		c.skip, c.err = SkipGone, err
	default:
		c.delivery, c.err = d, err
		if err == nil && d.CancelledByReplay() { // it was in progress
			c.err = r.completion().End(ctx, d)
		}
	}
}

// now returns the time in milliseconds, as stored.
func (r *Replayer) now() time.Time { return r.Now().UTC().Truncate(time.Millisecond) }

// forEach calls f for 0 to n-1, maxParallel calls at a time, and returns the errors. An
// error does not stop the other calls.
func forEach(n int, f func(i int) error) error {
	return errors.Join(parallel.Each(n, maxParallel, f)...)
}
