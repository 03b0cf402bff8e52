package sim_test

import (
	"context"
	"strconv"
	"time"

	"surehook.example/surehook/internal/hook"
)

// Schedules fire late, and twice, and for some minutes the account has as many as its quota.

// longestQuota is the longest time in which no schedule can be made.
const longestQuota = 6 * time.Minute

// drawQuotas draws the times with a full quota.
func (w *simulation) drawQuotas() {
	if w.calm || !w.chance(0.3) {
		return
	}
	for range 1 + w.rng.IntN(4) {
		from := start.Add(w.within(suffering))
		w.quotas = append(w.quotas, span{from: from, to: from.Add(w.within(longestQuota))})
	}
}

// full reports whether the account has no room for another schedule.
func (w *simulation) full() bool {
	for _, s := range w.quotas {
		if s.covers(w.now) && !w.quiet {
			return true
		}
	}
	return false
}

// At plans a task. The task may come late, and twice.
func (s ports) At(ctx context.Context, t hook.Task, at time.Time) error {
	p := s.p
	return done(p, "schedule", t.Delivery.String()+" "+strconv.Itoa(t.Attempt), write, func() error {
		p.count("schedules")
		if p.full() {
			p.count("schedules beyond the quota")
			p.fault(refused)
			return unavailable("the quota of schedules is exhausted")
		}
		p.sawTask(p, t, 0)
		p.sawAsked(t, at)
		if p.loses(t) {
			return nil
		}
		delete(p.simulation.hops, t.Nonce) // a schedule begins a new chain
		if p.chance(p.rates.lateSchedule) {
			p.count("schedules late")
			at = at.Add(p.within(3 * time.Minute))
		}
		if p.chance(p.rates.twiceSchedule) {
			p.count("schedules twice")
			p.blame("schedule twice", t.Delivery)
			p.copies++
			p.plan.add(at.Add(p.within(10*time.Second)), func() {
				p.copies--
				p.queue.Send(p.ctx, hook.QueueRetry, []hook.Task{t}, 0)
			})
		}
		return p.schedules.At(ctx, t, at)
	})
}
