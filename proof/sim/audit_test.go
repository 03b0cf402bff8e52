package sim_test

import (
	"fmt"
	"slices"
	"time"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
)

// unfinished returns the first failed check of the final state; an empty reason: none.
func (w *simulation) unfinished() (c check, reason string) {
	if w.posting > 0 || w.operations > 0 {
		return checkEnd, fmt.Sprintf("%d clients and %d operators have no answer", w.posting, w.operations)
	}
	if len(w.changes) > 0 { // a change may record a delivery of an event that nobody got the id of
		return checkEnd, fmt.Sprintf("%d changes of the stream have not arrived", len(w.changes))
	}
	for _, audit := range []struct {
		check
		run func() string
	}{
		// The queues come first: usually they are not empty, and their audit is the cheapest.
		{checkLeak, w.auditLeaks},
		{checkLost, w.auditDeliveries},
		{checkUnseen, w.auditSuccesses},
		{checkLetters, w.auditLetters},
		{checkJobs, w.auditJobs},
		{checkUntold, w.auditUntold},
		{checkErasure, w.auditErasure},
		{checkAccepted, w.auditRejects},
	} {
		if reason := audit.run(); reason != "" {
			return audit.check, reason
		}
	}
	return "", ""
}

// auditDeliveries: each accepted event has one settled delivery per endpoint.
func (w *simulation) auditDeliveries() string {
	for _, e := range w.posted {
		if e.Tenant == w.doomed.tenant && !w.doomed.marked.IsZero() {
			continue
		}
		for _, target := range e.Targets {
			id := hook.QueuedDelivery(e, target).Ref()
			for {
				d, ok := w.records[id]
				if !ok && id.Generation == 1 && !w.accepted[e.ID] {
					break
				}
				switch {
				case (!ok || !d.State.Settled()) && w.blocked(e, target.Endpoint):
				case !ok:
					return fmt.Sprintf("%s is lost: it has no record", id)
				case !d.State.Settled():
					return fmt.Sprintf("%s is %s (%s)", id, d.State, d.Reason)
				}
				if !ok || d.Replayed.Generation == 0 {
					break
				}
				id.Generation++
			}
		}
	}
	return ""
}

// auditUntold: the owners of all endpoints were told of each opening and closing.
func (w *simulation) auditUntold() string {
	for _, e := range w.endpoints {
		if s := w.statuses[e.id]; s.deleted.IsZero() && !w.lapses(e.id) && len(w.untold[e.id]) > 0 {
			return fmt.Sprintf("nobody was told %v", w.untold[e.id])
		}
	}
	return ""
}

// auditSuccesses: a delivery is delivered exactly if its receiver said so. A process
// after a fault may not have seen the answer. A delivery ended by a person stays so, and so does a death that was replayed.
func (w *simulation) auditSuccesses() string {
	for _, id := range w.recorded {
		if w.lapses(id.Endpoint) {
			continue
		}
		for _, s := range w.posts[id] {
			if s.outcome.Class == hook.ClassDelivered && !s.ended.IsZero() && s.p.done && !s.p.dead && !s.p.hurt && !s.ended.After(s.p.deadline) &&
				(w.records[id].State == hook.StateDead && w.records[id].Replayed.Generation == 0 ||
					w.records[id].State != hook.StateDelivered && w.records[id].Replayed.Generation == 0 && len(w.blamed[id]) == 0 && !w.twoTasks(s.of) && s.p.finished.Before(w.settled[id])) {
				return fmt.Sprintf("%s is %s after an answer 2xx to %s", id, w.records[id].State, s.p.name)
			}
		}
	}
	for _, id := range w.recorded {
		d := w.records[id]
		if d.State == hook.StateDelivered && !w.lapses(id.Endpoint) && !slices.ContainsFunc(w.posts[d.Ref()], func(s *post) bool { return s.outcome.Class == hook.ClassDelivered }) {
			return fmt.Sprintf("%s is delivered, and its receiver never said so", d.ID)
		}
	}
	return ""
}

// auditLeaks: no message, schedule or lease is left.
func (w *simulation) auditLeaks() string {
	if w.copies > 0 {
		return fmt.Sprintf("%d second tasks of schedules are left", w.copies)
	}
	if at, ok := w.queue.Next(); ok {
		return fmt.Sprintf("a task is left, for %s", at.Sub(start))
	}
	if at, ok := w.attention.Next(); ok {
		return fmt.Sprintf("a look is left, for %s", at.Sub(start))
	}
	if at, ok := w.jobs.Next(); ok {
		return fmt.Sprintf("a job's message is left, for %s", at.Sub(start))
	}
	// Tasks of replays that a restore forgot are undeliverable in the end: see wakeUp for the last redrive.
	if n := w.undeliverable(); n > 0 && (w.restored.IsZero() || w.now.Sub(w.quietAt) < 6*time.Hour) {
		return fmt.Sprintf("%d messages are undeliverable", n)
	}
	if plans := w.schedules.Plans(); len(plans) > 0 {
		return fmt.Sprintf("a schedule is left: %+v", plans[0])
	}
	for _, e := range w.endpoints {
		limits, err := w.store.Limits(w.ctx, e.id)
		if err != nil || limits.InFlight(w.now) > 0 {
			return fmt.Sprintf("endpoint %s has shares in flight: %v, %v", e.id, limits.Leases, err)
		}
	}
	return ""
}

// auditLetters: the dead letters are the dead deliveries without a settled replay.
func (w *simulation) auditLetters() string {
	letters := make(map[hook.DeliveryRef]int)
	for _, l := range w.deadLetters.Letters() {
		letters[l.Delivery]++
		if w.lapses(l.Delivery.Endpoint) {
			return fmt.Sprintf("%s has a letter, and its tenant is erased", l.Delivery)
		}
		if d := w.records[l.Delivery]; d.State != hook.StateDead {
			return fmt.Sprintf("%s has a letter and is %s", l.Delivery, d.State)
		}
	}
	for _, id := range w.recorded {
		d := w.records[id]
		if w.lapses(id.Endpoint) {
			continue
		}
		replayed := w.ordered && d.Replayed.Generation != 0 // its letter was redriven, and the replay waits for its turn
		if n := letters[d.Ref()]; d.State == hook.StateDead && n != 1 && !w.now.After(d.ClosesAt()) && (n != 0 || !w.purged[d.Ref()] && !replayed) {
			return fmt.Sprintf("%s is dead (%s) and has %d letters", d.ID, d.Reason, n)
		}
		successor := w.records[d.Successor()]
		retiring := !w.restored.IsZero() && w.settled[d.Successor()].Equal(w.restored) // at the moment of the restore
		if d.State == hook.StateDead && d.Replayed.Generation != 0 && successor.State.Settled() && !successor.CancelledByReplay() && !retiring {
			return fmt.Sprintf("%s is dead, and its replay is %s", d.ID, successor.State)
		}
	}
	return ""
}

// auditJobs: the totals of jobs are exact.
func (w *simulation) auditJobs() string {
	for _, s := range w.startedJobs {
		if s.tenant == w.doomed.tenant && !w.doomed.marked.IsZero() {
			continue
		}
		id := s.id
		j, err := w.store.Job(w.ctx, s.tenant, id)
		if hook.CodeOf(err) == hook.CodeNotFound {
			continue // the job was never created
		}
		var want replay.Outcomes
		enqueued, undecided, undone := 0, 0, 0
		for _, recorded := range w.recorded {
			d := w.records[recorded]
			if d.Job != id {
				continue
			}
			enqueued++
			if w.ordered && !d.State.Settled() { // blocked
				continue
			}
			if d.State != hook.StateDelivered && slices.ContainsFunc(w.posts[recorded], func(s *post) bool { return s.outcome.Class == hook.ClassDelivered }) {
				undecided++
			}
			switch d.State {
			case hook.StateDelivered:
				want.Delivered++
				if w.undone[d.Ref()] && !w.calm {
					undone++
				}
			case hook.StateDead, hook.StateDiscarded:
				want.Dead++
			case hook.StateCancelled, hook.StateQueued, hook.StateRetrying, hook.StateParked:
				want.Cancelled++
			}
		}
		got, _ := w.store.JobOutcomes(w.ctx, id)
		switch {
		case j.State == replay.JobRunning || len(j.Pending) > 0:
			return fmt.Sprintf("job %s is %s with %d pending", id, j.State, len(j.Pending))
		case j.Enqueued+j.Skipped != j.Selected:
			return fmt.Sprintf("job %s selected %d, enqueued %d and skipped %d", id, j.Selected, j.Enqueued, j.Skipped)
		case enqueued < j.Enqueued || enqueued > j.Selected || w.calm && enqueued != j.Enqueued:
			// A dead worker may leave tasks of deliveries. Its successor skips such a
			// delivery: its state left the filter.
			return fmt.Sprintf("job %s enqueued %d, and there are %d", id, j.Enqueued, enqueued)
		case got.Delivered < want.Delivered-undone || got.Delivered > want.Delivered+undecided ||
			got.Delivered+got.Dead+got.Cancelled != want.Delivered+want.Dead+want.Cancelled:
			// A process may die, or lose an answer, after the count of a late 2xx and before the
			// record: the delivery may die, and counts as delivered. Or after the record of one that replaces a
			// death, and before the count, and no message may come again: it counts as dead.
			// A race decides between dead and cancelled: a delivery discarded before its
			// count counts as cancelled, a delivery cancelled during its death as dead.
			return fmt.Sprintf("job %s counts %+v; there are %+v", id, got, want)
		}
	}
	return ""
}
