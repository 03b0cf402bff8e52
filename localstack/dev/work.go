package dev

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/rule/retry"
)

const (
	batch       = 10               // messages of a batch, such as circuit checks, processed at the same time, as deployed
	invocation  = time.Minute      // time limit of one batch
	visibility  = 6 * invocation   // visibility timeout, as deployed
	tickEvery   = time.Minute      // as deployed
	sweepEvery  = 5 * time.Minute  // as deployed
	reviewEvery = 15 * time.Minute // as deployed: reviews, and reconciliation of dead letters
)

// The number of workers, each with one batch at a time. A worker of slot or overflow has one task
// and stands for an in-flight slot, so up to 320 slow requests run at the same time.
const (
	liveWork     = 64
	retryWork    = 32
	replayWork   = 16
	slotWork     = 32           // a tenth of the in-flight slots, as in a deployment
	overflowWork = 288          // the rest
	coalesceWork = 8            // requests with the events of a window
	tenantShares = slotWork / 4 // shares of one tenant in the queue slot, as in a deployment
	checkWork    = 2            // circuit checks
	jobWork      = 4            // pages of replay jobs
)

// workersOf returns the number of workers of the queue.
func workersOf(queue hook.Queue) int {
	switch queue {
	case hook.QueueLive:
		return liveWork
	case hook.QueueRetry:
		return retryWork
	case hook.QueueReplay:
		return replayWork
	case hook.QueueSlot:
		return slotWork
	case hook.QueueOverflow:
		return overflowWork
	case hook.QueueCoalesce:
		return coalesceWork
	}
	return 0
}

// work starts the workers. They end with ctx, each after its current batch.
func (p *process) work(ctx context.Context, workers *sync.WaitGroup) {
	start := func(n int, f func(context.Context)) {
		for range n {
			workers.Go(func() {
				for ctx.Err() == nil {
					f(ctx)
				}
			})
		}
	}
	for _, queue := range hook.Queues() {
		start(workersOf(queue), func(ctx context.Context) { p.deliver(ctx, queue) })
	}
	start(eventsWork, p.acceptEvents)
	start(checkWork, p.checkCircuits)
	start(jobWork, p.replay)
	workers.Go(func() { every(ctx, tickEvery, p.tick) })
	workers.Go(func() { every(ctx, tickEvery, p.forget) })
	workers.Go(func() { every(ctx, sweepEvery, p.sweep) })
	workers.Go(func() { every(ctx, reviewEvery, p.review) })
}

// deliver processes the next batch of the queue.
func (p *process) deliver(ctx context.Context, queue hook.Queue) {
	p.process(ctx, queue, p.receive(ctx, queue))
}

// process processes a batch of the queue.
func (p *process) process(ctx context.Context, queue hook.Queue, received []memory.Message) {
	if len(received) == 0 {
		return
	}
	messages := make([]deliver.Message, len(received))
	for i, m := range received {
		messages[i] = deliver.Message{ID: m.ID, Body: m.Body, Queue: queue}
	}
	ctx, cancel := invoked(ctx)
	defer cancel()
	failed := p.deliverer.ProcessBatch(ctx, messages)
	for _, m := range received {
		end(p.queue, m.ID, m.ReceiveCount, slices.Contains(failed, m.ID))
	}
}

// receive returns the next batch of the queue. On the queue coalesce, one worker at a time gathers
// the tasks of a window for hook.CoalesceGather.
func (p *process) receive(ctx context.Context, queue hook.Queue) []memory.Message {
	if queue != hook.QueueCoalesce {
		return p.queue.Await(ctx, queue, queue.BatchSize())
	}
	p.gather.Lock()
	defer p.gather.Unlock()
	received := p.queue.Await(ctx, queue, queue.BatchSize())
	if n := len(received); n == 0 || n == queue.BatchSize() {
		return received
	}
	select {
	case <-ctx.Done(): // the tasks received so far are still processed
	case <-time.After(hook.CoalesceGather):
	}
	return append(received, p.queue.Receive(queue, queue.BatchSize()-len(received))...)
}

// checkCircuits processes the next batch of circuit checks and review pages.
func (p *process) checkCircuits(ctx context.Context) {
	p.check(ctx, p.circuits.Await(ctx, batch))
}

// check processes a batch of circuit checks and review pages.
func (p *process) check(ctx context.Context, received []memory.CircuitMessage) {
	ctx, cancel := invoked(ctx)
	defer cancel()
	var checks sync.WaitGroup
	for _, m := range received {
		checks.Go(func() { p.reconcile(ctx, m) })
	}
	checks.Wait()
}

func (p *process) reconcile(ctx context.Context, m memory.CircuitMessage) {
	work := func() error { return p.breaker.Reconcile(ctx, m.CircuitCheck) }
	if m.Review != nil {
		work = func() error { return p.breaker.ReviewPage(ctx, *m.Review) }
	}
	end(p.circuits, m.ID, m.ReceiveCount, work() != nil) // both log their results
}

// replay processes the next page of a replay job, or the next steps of an erasure.
func (p *process) replay(ctx context.Context) {
	received := p.jobs.Await(ctx, 1)
	ctx, cancel := invoked(ctx)
	defer cancel()
	for _, m := range received {
		work := p.replayer.Work
		if m.Job.Erasure != "" {
			work = p.eraser.Work
		}
		end(p.jobs, m.ID, m.ReceiveCount, work(ctx, m.Job) != nil) // both log their results
	}
}

// forget removes from the store what is expired or beyond its bound. Its cost grows with the table.
func (p *process) forget(ctx context.Context) {
	p.store.Expire(p.clock.Now())
	if forgotten := p.store.Forget(p.keep); forgotten > 0 {
		p.log.InfoContext(ctx, "dev.forgot", slog.Int("items", forgotten))
	}
}

// tick reconciles the endpoints that are due.
func (p *process) tick(ctx context.Context) {
	if err := p.breaker.Tick(ctx); err != nil {
		p.log.ErrorContext(ctx, "breaker.tick_failed", slog.Any(names.LogError, err))
	}
}

// review reviews the endpoints, and reconciles the dead letters.
func (p *process) review(ctx context.Context) {
	if err := p.breaker.Review(ctx); err != nil {
		p.log.ErrorContext(ctx, "breaker.review_failed", slog.Any(names.LogError, err))
	}
	if err := p.breaker.ReconcileDeadLetters(ctx); err != nil {
		p.log.ErrorContext(ctx, "breaker.reconcile_failed", slog.Any(names.LogError, err))
	}
}

func (p *process) sweep(ctx context.Context) {
	if err := p.breaker.Sweep(ctx); err != nil {
		p.log.ErrorContext(ctx, "breaker.sweep_failed", slog.Any(names.LogError, err))
	}
}

// mailbox is a queue with received messages.
type mailbox interface {
	Delete(id string)
	ChangeVisibility(id string, d time.Duration)
}

// end deletes a processed message, or lets a failed one return after the back-off.
func end(q mailbox, id string, receives int, failed bool) {
	if failed {
		q.ChangeVisibility(id, redelivery(receives))
	} else {
		q.Delete(id)
	}
}

// redelivery returns the time until a failed message is received again, as deployed.
func redelivery(receives int) time.Duration { return retry.Redelivery(receives, rand.Float64()) }

// invoked returns the context of one invocation: it has the time limit of an invocation, and does
// not end with ctx.
func invoked(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), invocation)
}

// every calls f after each interval, until ctx ends.
func every(ctx context.Context, interval time.Duration, f func(context.Context)) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			invocation, cancel := invoked(ctx)
			f(invocation)
			cancel()
		}
	}
}
