package admission

import (
	"time"

	"surehook.example/surehook/internal/hook"
)

// testPause is how long a test event waits for an in-flight slot before it asks again.
const testPause = time.Second

func park(reason hook.Reason) Verdict { return Verdict{Decision: Park, Reason: reason} }

// has reports whether the part of the state was read. If not, Ask ends without an answer.
func (a *asking) has(p Part) bool {
	if p == LimitsPart && a.Next.Limits == nil || p == SharesPart && a.Next.Shares == nil {
		a.Lacks = p
	}
	return a.Lacks == 0
}

// runs reports whether the task has its slot already: the answer to the write was lost.
func (a *asking) runs(due Due) bool {
	return a.Next.Limits.Leases[LeaseKey(due.Delivery)].same(a.own(due).Lease)
}

// own returns the lease of an attempt that starts now.
func (a *asking) own(due Due) Held {
	return Held{Key: LeaseKey(due.Delivery), Lease: Lease{Nonce: due.Nonce, Until: LeaseEnd(a.now), Run: a.Next.Run}}
}

// lease leases a slot to the task, or takes over a claim of its delivery.
func (a *asking) lease(due Due) Verdict {
	if !a.has(LimitsPart) {
		return Verdict{}
	}
	own := a.own(due)
	most := max(a.before.Width(a.endpoint, a.now), a.most) // at a fast endpoint with a rate only claims have slots
	next, granted := a.Next.Limits.Start(own, a.before.SlotsNow(*a.Next.Limits, most, a.now), a.now)
	a.Next.Limits = &next
	switch granted {
	case Started, Running:
		return Verdict{Decision: Admit, Lease: own, InFlight: len(next.Leases)}
	case Taken:
		return Verdict{Decision: Busy}
	case Full:
		if most == 0 { // the claim expired on the way, and the endpoint has become fast
			return Verdict{Decision: Admit}
		}
	}
	return park(hook.ReasonInFlight)
}

// toSlot moves the task to the queue slot, with a share, or to the queue overflow.
func (a *asking) toSlot(due Due) Verdict {
	if !a.has(SharesPart) {
		return Verdict{}
	}
	next, has := a.Next.Shares.Take(due.Share(LeaseEnd(a.now)), a.Next.MaxShares, a.now)
	a.Next.Shares = &next
	if has {
		return Verdict{Decision: Move, Queue: hook.QueueSlot}
	}
	return Verdict{Decision: Move, Queue: hook.QueueOverflow}
}

// hasShare reports whether the task may stay in its queue.
func (a *asking) hasShare(due Due) bool {
	if a.query.Queue != hook.QueueSlot || !a.has(SharesPart) {
		return true
	}
	_, ok := a.Next.Shares.Live(a.now).Leases[due.ShareKey()]
	return ok
}
