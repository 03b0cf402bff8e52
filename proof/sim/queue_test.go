package sim_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"surehook.example/surehook/internal/delivery/breaker"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
)

// visibility is the visibility timeout: six timeouts of the functions, 6 x 60 s.
const visibility = 6 * time.Minute

// ports are the store, whose faults are below it, and the queues of one process.
type ports struct {
	*memory.Store

	p *process
}

func (p *process) ports() ports { return ports{p.store, p} }

// Send puts tasks on a queue. Each task may be refused, duplicated or late.
func (s ports) Send(ctx context.Context, queue hook.Queue, tasks []hook.Task, delay time.Duration) []error {
	p := s.p
	about := fmt.Sprintf("%s %d %s %d in %s", queue, len(tasks), tasks[0].Delivery, tasks[0].Attempt, delay)
	made := p.now
	v := p.enter("send", about, batch, 0)
	defer p.visible()
	errs := make([]error, len(tasks))
	failed := false
	if v != dead && v != refused && (p.ticks || p.check.Endpoint != "") {
		p.checkSent(p, tasks)
	}
	for i, t := range tasks {
		if v != dead && v != refused {
			p.sawAsked(t, p.askedAt(made, delay))
			if queue == hook.QueueCoalesce {
				p.checkFirstWindow(p, t, made.Add(p.skew+delay))
			}
		}
		errs[i] = s.sendOne(ctx, v, queue, t, delay)
		failed = failed || errs[i] != nil
	}
	if v != dead && v != refused {
		p.note("%s send %s: %s", p.name, about, v)
	}
	if v == dying {
		p.die()
	}
	if !failed {
		return nil
	}
	return errs
}

func (s ports) sendOne(ctx context.Context, v verdict, queue hook.Queue, t hook.Task, delay time.Duration) error {
	p := s.p
	if v == partial {
		v = pick(p.simulation, granted, refused, lost)
	}
	switch v {
	case dead:
		return errDead
	case refused:
		return unavailable("throttled")
	case granted, lost, repeated, partial, unprocessed, dying:
	}
	p.sawTask(p, t, queue)
	if p.loses(t) {
		return nil
	}
	p.simulation.hops[t.Nonce] = p.hops
	times := 1
	if p.chance(p.rates.duplicate) {
		times = 2
		p.count("messages duplicated")
		p.blame("duplicate", t.Delivery)
	}
	for range times {
		late := delay
		if p.chance(p.rates.reorder) {
			p.count("messages late")
			late = min(delay+p.within(20*time.Second), hook.MaxQueueDelay)
		}
		if errs := p.queue.Send(ctx, queue, []hook.Task{t}, late); errs != nil {
			p.fail(checkSetup, "%s: the queue refuses a task: %v", p.name, errs[0])
			return errs[0]
		}
	}
	switch v {
	case lost:
		return unavailable("no answer")
	case dying:
		return errDead
	case granted, refused, repeated, partial, unprocessed, dead:
	}
	return nil
}

// Visible reads the depth of a queue.
func (s ports) Visible(ctx context.Context, queue hook.Queue) (int, error) {
	return effect(s.p, "read queue", queue.String(), read, func() (int, error) { return s.p.queue.Visible(ctx, queue) })
}

// letters is the dead-letter queue of one process.
type letters struct {
	*memory.DeadLetters

	p *process
}

func (p *process) letters() letters { return letters{p.deadLetters, p} }

func (s letters) Send(ctx context.Context, l hook.DeadLetter) error {
	return done(s.p, "send letter", l.Delivery.String(), write, func() error {
		times := 1
		if s.p.chance(s.p.rates.duplicate) {
			times = 2
		}
		for range times {
			if err := s.DeadLetters.Send(ctx, l); err != nil {
				return err
			}
		}
		s.p.redriveSoon()
		return nil
	})
}

func (s letters) Receive(ctx context.Context) ([]breaker.Letter, error) {
	return effect(s.p, "receive letters", "", read, func() ([]breaker.Letter, error) {
		all, err := s.DeadLetters.Receive(ctx)
		for i := range all {
			all[i].Body = s.p.body(all[i].Body)
		}
		return all, err
	})
}

func (s letters) Remove(ctx context.Context, all []breaker.Letter) error {
	return done(s.p, "remove letters", strconv.Itoa(len(all))+" "+all[0].ID, write, func() error {
		return s.DeadLetters.Remove(ctx, all)
	})
}

func (s ports) EnqueueReview(ctx context.Context, page hook.ReviewPage) error {
	return done(s.p, "ask", strconv.Itoa(len(page.Endpoints))+" reviews", write, func() error { return s.p.attention.EnqueueReview(ctx, page) })
}

func (s ports) Enqueue(ctx context.Context, l hook.CircuitCheck, delay time.Duration) error {
	return done(s.p, "ask", string(l.Endpoint)+" wave "+strconv.Itoa(l.Wave)+" in "+delay.String(), write, func() error {
		delete(s.p.turned, l.Endpoint)
		s.p.simulation.hops[string(l.Endpoint)] = s.p.hops
		times := 1
		if s.p.chance(s.p.rates.duplicate) {
			times = 2
		}
		for range times {
			if s.p.chance(s.p.rates.reorder) {
				delay += s.p.within(20 * time.Second)
			}
			if err := s.p.attention.Enqueue(ctx, l, delay); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s ports) Continue(ctx context.Context, m replay.Message, delay time.Duration) error {
	return done(s.p, "continue", string(m.Job), write, func() error {
		s.p.checkJobMessage(m)
		times := 1
		if s.p.chance(s.p.rates.duplicate) {
			times = 2
		}
		for range times {
			if err := s.p.jobs.Continue(ctx, m, delay); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s ports) Notify(_ context.Context, n hook.Notification) error {
	return done(s.p, "tell", n.Key, write, func() error {
		delete(s.p.owes, n.Type+" "+string(n.Endpoint))
		s.p.untold[n.Endpoint] = slices.DeleteFunc(s.p.untold[n.Endpoint], func(key string) bool { return key == n.Key })
		return nil
	})
}
