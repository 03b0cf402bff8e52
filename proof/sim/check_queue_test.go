package sim_test

import (
	"slices"
	"strings"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
)

// maker is a function by the tasks that it makes.
type maker uint8

const (
	ofPosts    maker = iota + 1 // first tasks of events
	ofReplays                   // first tasks of replays
	ofAttempts                  // tasks sent on, and those of next attempts
	ofParked                    // tasks of parked and overdue deliveries
)

func (p *process) maker() maker {
	what, _, _ := strings.Cut(p.name, "-")
	switch {
	case what == "post", p.samples != "":
		return ofPosts
	case what == "operator", what == "work":
		return ofReplays
	case what == "deliver":
		return ofAttempts
	}
	return ofParked
}

// coalescing reports whether the endpoint may coalesce, and whether it may not, as far as the
// process knows.
func (w *simulation) coalescing(p *process, id hook.EndpointID) (may, mayNot bool) {
	s := w.statuses[id]
	for _, known := range s.known(p.started) {
		may, mayNot = may || known.Coalesce.On(), mayNot || !known.Coalesce.On()
	}
	return may, mayNot || !s.deleted.IsZero()
}

// checkQueue: a task is on a queue of its kind. Retries never go to the queue of first attempts,
// and only a task sent on goes to the queues of slots.
func (w *simulation) checkQueue(p *process, t hook.Task, queue hook.Queue) {
	together, alone := w.coalescing(p, t.Delivery.Endpoint)
	first, replay := t.Attempt == 1, t.Delivery.Generation > 1
	on := slices.ContainsFunc(p.batch, func(m memory.Message) bool { return m.Task.Nonce == t.Nonce })
	right := false
	switch queue {
	case hook.QueueLive:
		// After conflicts of the list's read, the list may lack a new endpoint.
		right = p.maker() == ofPosts && first && !replay && (alone || p.hurt || t.Test()) || w.hasNumber(t.Delivery) // sent by the one before it
	case hook.QueueReplay:
		right = p.maker() == ofReplays && first // of a delivery without a record, too: its first task is sent again
	case hook.QueueSlot:
		right = p.maker() == ofAttempts && on && alone
	case hook.QueueOverflow:
		right = t.Slot && !on || p.maker() == ofAttempts && on // the endpoint may coalesce since: a probe moves there
	case hook.QueueRetry:
		right = p.maker() == ofAttempts && (on || alone) || p.maker() == ofParked
	case hook.QueueCoalesce:
		right = p.maker() != ofReplays && together
	}
	if !right {
		w.fail(checkQueue, "%s sends a task for attempt %d of %s to the queue %s", p.name, t.Attempt, t.Delivery, queue)
	}
}

// checkFirstWindow: the first task of a coalescing endpoint comes no earlier than the end of
// the window with the event.
func (w *simulation) checkFirstWindow(p *process, t hook.Task, due time.Time) {
	if p.maker() != ofPosts {
		return
	}
	accepted := time.UnixMilli(t.Delivery.AcceptedAt)
	known := w.statuses[t.Delivery.Endpoint].known(p.started)
	if !slices.ContainsFunc(known, func(s setting) bool { return s.Coalesce.On() && !due.Before(s.Coalesce.End(accepted)) }) {
		w.fail(checkWindow, "%s sends the task of %s %s after its acceptance, before the end of the window", p.name, t.Delivery, due.Sub(accepted))
	}
}

// checkNextWindow: the next attempt at a coalescing endpoint is at the end of a window.
func (w *simulation) checkNextWindow(p *process, old, d hook.Delivery) {
	s := w.statuses[d.ID.Endpoint]
	if d.State != hook.StateRetrying || d.NextAttemptAt.Equal(old.NextAttemptAt) || !s.deleted.IsZero() {
		return
	}
	if !slices.ContainsFunc(s.known(p.started), func(s setting) bool {
		return !s.Coalesce.On() || d.NextAttemptAt.Equal(d.NextAttemptAt.Truncate(s.Coalesce.Window))
	}) {
		w.fail(checkWindow, "%s plans the next attempt of %s within a window, for %s", p.name, d.ID, d.NextAttemptAt.Format(time.TimeOnly))
	}
}

// checkPlace: requests of an endpoint with fixed addresses come from them. Requests of another
// region come from there, unless its sender refused one. Destinations in AWS get calls of AWS alone.
func (w *simulation) checkPlace(p *process, r send.Request, from origin) {
	e, away := r.Endpoint, from == ofSender
	if (from == ofCloud) != e.Destination.On() {
		w.fail(checkPlace, "%s: attempt of %s at %s, as a call of AWS is %t", p.name, r.Delivery, e.URL, from == ofCloud)
	}
	if away && !e.Remote() || !away && (e.Fixed || e.Region != "" && p.refusals == 0) {
		w.fail(checkPlace, "%s: attempt of %s from another place: from a sender is %t, region %q, fixed %t", p.name, r.Delivery, away, e.Region, e.Fixed)
	}
}

// leastTries is how often a process writes the outcome of a request at least, if all tries
// are refused: the request would be repeated.
const leastTries = 12

// checkPersists: the outcome of a request is written again and again, until it stands. A
// decision of another process on the delivery may end the tries.
func (w *simulation) checkPersists(p *process, sent *post) {
	ref := sent.of.DeliveryRef
	if tries := p.tries[ref]; !sent.ended.IsZero() && p.conflicts[ref] == 0 && tries > 0 && tries < leastTries &&
		w.records[ref].Attempts < sent.of.number && !w.records[ref].State.Settled() {
		w.fail(checkPersist, "%s writes the outcome of attempt %d of %s %d times in vain, and no more", p.name, sent.of.number, ref, tries)
	}
}
