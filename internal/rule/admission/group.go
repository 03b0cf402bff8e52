package admission

import (
	"slices"
	"time"

	"surehook.example/surehook/internal/hook"
)

// coalesces decides about the tasks of one request to a coalescing endpoint, all together. The rows before
// decide alike about all tasks of a query, but for a probe: then this row decides about none, because the circuit is
// not closed.
func (a *asking) coalesces(Due) (Verdict, bool) {
	if !a.endpoint.Coalesce.On() {
		return Verdict{}, false
	}
	if a.group == nil {
		a.group = a.decideGroup()
	}
	return a.group[len(a.Verdicts)], true
}

// decideGroup: the request takes one rate slot and one in-flight slot, both held by the first
// task. A group that cannot start now waits on the queue, for the next window, for its rate slot, or
// for the end of an attempt: that is cheaper than parking each delivery, and the next window collects
// what waited.
//
// The first task is the one with a rate slot, if any; the lease that it gets makes it the leader of the request.
// When the group waits for a rate slot, only the first task carries the reserved slot. So one
// request uses it, whichever tasks come back together.
func (a *asking) decideGroup() []Verdict {
	window, rate := a.endpoint.Coalesce, a.rate
	if a.query.Queue != hook.QueueCoalesce {
		return a.all(later(window.End(a.now)))
	}
	leader := max(0, slices.IndexFunc(a.query.Due, func(d Due) bool { return d.Reserved })) // the first task with a rate slot, if any
	due := a.query.Due[leader]
	if (rate > 0 && !due.Reserved || a.most > 0) && !a.has(LimitsPart) {
		return a.all(Verdict{})
	}
	if rate > 0 && !due.Reserved && !a.runs(due) {
		next, slot := a.Next.Limits.Reserve(rate, a.now)
		if slot.Sub(a.now) > a.rateWait { // so that a changed rate soon applies to everything
			return a.all(later(window.End(a.now.Add(a.rateWait))))
		}
		if a.Next.Limits = &next; slot.After(a.now) {
			all := a.all(later(slot))
			all[leader].Reserved = true
			return all
		}
	}
	all := a.all(Verdict{Decision: Admit})
	if a.most == 0 {
		return all
	}
	again := later(window.Soon(a.now))
	if all[leader] = a.lease(due); all[leader].Decision == Park {
		all[leader] = again
		all[leader].Reserved = rate > 0 // the task keeps its rate slot
	}
	if all[leader].Decision != Admit {
		for i := range all {
			if i != leader {
				all[i] = again
			}
		}
	}
	return all
}

func (a *asking) all(v Verdict) []Verdict { return slices.Repeat([]Verdict{v}, len(a.query.Due)) }

// later sends a task back to the queue coalesce for the given time.
func later(at time.Time) Verdict {
	return Verdict{Decision: Move, Queue: hook.QueueCoalesce, Until: at}
}
