package dev

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"surehook/internal/delivery/deliver"
	"surehook/internal/hook"
	"surehook/internal/memory"
	"surehook/internal/names"
)

const (
	batch      = 10               // messages that are worked on at once, as deployed
	invocation = time.Minute      // what one batch may take
	visibility = 6 * invocation   // how long a message that was received is hidden, as deployed
	tickEvery  = time.Minute      // as deployed
	judgeEvery = 15 * time.Minute // how often endpoints are reviewed and dead letters reconciled, as deployed
	liveWork   = 64               // batches of first attempts at the same time
	retryWork  = 32               // batches of later attempts
	replayWork = 16               // batches of replays
	lookWork   = 2                // batches of looks at endpoints
	jobWork    = 4                // pages of replay jobs
)

// work starts the workers, which end with ctx. What one of them is at, it ends first.
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
	for lane, n := range map[hook.Lane]int{hook.LaneLive: liveWork, hook.LaneRetry: retryWork, hook.LaneReplay: replayWork} {
		start(n, func(ctx context.Context) { p.deliver(ctx, lane) })
	}
	start(lookWork, p.look)
	start(jobWork, p.replay)
	workers.Go(func() { every(ctx, tickEvery, p.tick) })
	workers.Go(func() { every(ctx, judgeEvery, p.judge) })
}

// deliver works on the next batch of the lane.
func (p *process) deliver(ctx context.Context, lane hook.Lane) {
	received := p.queue.Await(ctx, lane, batch)
	if len(received) == 0 {
		return
	}
	messages := make([]deliver.Message, len(received))
	for i, m := range received {
		messages[i] = deliver.Message{ID: m.ID, Body: m.Body}
	}
	ctx, cancel := invoked(ctx)
	defer cancel()
	failed := p.deliverer.ProcessBatch(ctx, messages)
	for _, m := range messages {
		if !slices.Contains(failed, m.ID) {
			p.queue.Delete(m.ID)
		}
	}
}

// look attends to the next endpoints that somebody asked to look at.
func (p *process) look(ctx context.Context) {
	received := p.attention.Await(ctx, batch)
	ctx, cancel := invoked(ctx)
	defer cancel()
	var looks sync.WaitGroup
	for _, m := range received {
		looks.Go(func() { p.attend(ctx, m) })
	}
	looks.Wait()
}

func (p *process) attend(ctx context.Context, m memory.CircuitMessage) {
	if p.breaker.Reconcile(ctx, m.Look) == nil { // it logs what came of it
		p.attention.Delete(m.ID)
	}
}

// replay does the next page of a replay job.
func (p *process) replay(ctx context.Context) {
	received := p.jobs.Await(ctx, 1)
	ctx, cancel := invoked(ctx)
	defer cancel()
	for _, m := range received {
		if p.replayer.Work(ctx, m.Job) == nil { // it logs what came of it
			p.jobs.Delete(m.ID)
		}
	}
}

// tick looks after the endpoints that are due, and forgets what is too old.
func (p *process) tick(ctx context.Context) {
	p.store.Expire(time.Now())
	if err := p.breaker.Tick(ctx); err != nil {
		p.log.ErrorContext(ctx, "breaker.tick_failed", slog.Any(names.LogError, err))
	}
}

// judge reviews the endpoints and reconciles the dead letters.
func (p *process) judge(ctx context.Context) {
	if err := p.breaker.Review(ctx); err != nil {
		p.log.ErrorContext(ctx, "breaker.review_failed", slog.Any(names.LogError, err))
	}
	if err := p.breaker.ReconcileDeadLetters(ctx); err != nil {
		p.log.ErrorContext(ctx, "breaker.reconcile_failed", slog.Any(names.LogError, err))
	}
}

// invoked returns the context of one invocation, which has its own time and
// does not end in the midst of it.
func invoked(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), invocation)
}

// every calls f at each interval until ctx ends.
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
