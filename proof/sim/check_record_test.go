package sim_test

import (
	"cmp"
	"slices"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/retry"
)

// sawDelivery checks a write of the record.
func (w *simulation) sawDelivery(p *process, d hook.Delivery, a *hook.Attempt) {
	old := w.records[d.Ref()]
	if old.Version == 0 {
		w.recorded = append(w.recorded, d.Ref())
		old.State = hook.StateQueued
	}
	w.checkState(p, old, d)
	w.checkNextWindow(p, old, d)
	if d.Attempts != old.Attempts {
		w.checkAttempt(p, old, d, a)
	}
	if d.State != old.State {
		w.moved[d.Ref()] = w.now
		if !old.State.Settled() {
			w.settled[d.Ref()] = w.now
		}
		w.count("to " + d.State.String())
	}
	if before, replay := d.Ref().Predecessor(); replay && w.records[before].Replayed.Generation != d.ID.Generation {
		w.fail(checkGenerations, "%s: %s is recorded, and the generation before does not say that it was replayed", p.name, d.ID)
	}
	if r := old.Replayed; r.Generation != 0 && r != d.Replayed {
		w.fail(checkGenerations, "%s: %s was replayed by %+v, now by %+v", p.name, d.ID, r, d.Replayed)
	}
	w.checkBody(p, d, a)
	w.sawWrite(p, old, d)
	w.written[d.Ref()] = w.now
	w.sawDead(old)
	w.records[d.Ref()] = d
	w.sawEnd(d)
}

// checkState checks the transition against the diagram of package hook.
func (w *simulation) checkState(p *process, old, d hook.Delivery) {
	may := map[hook.State][]hook.State{
		hook.StateQueued:    {hook.StateQueued, hook.StateRetrying, hook.StateParked, hook.StateDelivered, hook.StateDead, hook.StateCancelled},
		hook.StateRetrying:  {hook.StateRetrying, hook.StateParked, hook.StateDelivered, hook.StateDead, hook.StateCancelled},
		hook.StateParked:    {hook.StateRetrying, hook.StateParked, hook.StateDelivered, hook.StateDead, hook.StateCancelled},
		hook.StateDead:      {hook.StateDead, hook.StateDiscarded, hook.StateDelivered},
		hook.StateDelivered: {hook.StateDelivered}, hook.StateDiscarded: {hook.StateDiscarded}, hook.StateCancelled: {hook.StateCancelled},
	}[old.State]
	s, c := w.statuses[d.ID.Endpoint], w.circuits[d.ID.Endpoint]
	switch {
	case !slices.Contains(may, d.State):
		w.fail(checkState, "%s: %s goes from %s to %s", p.name, d.ID, old.State, d.State)
	case old.State == hook.StateDead && d.State == hook.StateDelivered:
		if !slices.ContainsFunc(p.made, func(s *post) bool {
			return s.of.DeliveryRef == d.Ref() && !s.ended.IsZero() && s.outcome.Class == hook.ClassDelivered
		}) {
			w.fail(checkState, "%s: %s goes from dead to delivered, and the receiver did not say so", p.name, d.ID)
		}
		w.undone[d.Ref()] = true
	case old.State.Settled() && (d.Attempts != old.Attempts || d.Last.Class != old.Last.Class):
		w.fail(checkState, "%s: %s is %s and is given another attempt", p.name, d.ID, old.State)
	case d.State == hook.StateParked && (d.Reason == hook.ReasonPaused || d.Reason == hook.ReasonDisabled) &&
		s.Status == hook.StatusActive && s.inactive.Before(p.started) &&
		(old.State != d.State || old.Reason != d.Reason): // an attempt recorded over a park leaves the park
		w.fail(checkState, "%s: %s is parked (%s), and its endpoint is active", p.name, d.ID, d.Reason)
	case d.State == hook.StateParked && d.Reason == hook.ReasonCircuit && c.open.IsZero() && c.opened.Before(p.started):
		w.fail(checkState, "%s: %s is parked, and its circuit is closed", p.name, d.ID)
	case d.CancelledByReplay() && !old.State.Settled() && !d.Replayed.Force:
		w.fail(checkGenerations, "%s: %s, which was %s, is replayed without force", p.name, d.ID, old.State)
	case d.State == hook.StateCancelled && d.Reason == hook.ReasonDeleted && s.deleted.IsZero():
		w.fail(checkState, "%s: %s is cancelled, and its endpoint exists", p.name, d.ID)
	case d.State == hook.StateDead && old.State != hook.StateDead && d.Reason == hook.ReasonExpired && d.Attempts == old.Attempts &&
		!retry.Expired(d, w.now.Add(w.mostSkew()), s.leastAge(p.started)):
		w.fail(checkAge, "%s: %s is dead of age after %s", p.name, d.ID, w.now.Sub(d.CreatedAt))
	}
}

// checkAttempt: the record has the outcome of the attempt, and the decision of the
// policy on the outcome.
func (w *simulation) checkAttempt(p *process, old, d hook.Delivery, a *hook.Attempt) {
	if d.Attempts != old.Attempts+1 {
		w.fail(checkRecord, "%s: %s goes from %d attempts to %d", p.name, d.ID, old.Attempts, d.Attempts)
		return
	}
	if w.attempts[d.Ref()] == nil {
		w.attempts[d.Ref()] = make(map[int]time.Time)
	}
	w.attempts[d.Ref()][d.Attempts] = w.now
	i := slices.IndexFunc(w.posts[d.Ref()], func(s *post) bool { return s.p == p && s.of.number == d.Attempts })
	if i < 0 && d.Last.Class == hook.ClassTransformation {
		w.checkUnmade(p, d, a)
		return
	}
	if i < 0 {
		w.fail(checkRecord, "%s: attempt %d of %s is recorded, and was not made", p.name, d.Attempts, d.ID)
		return
	}
	if a == nil && (d.State != hook.StateDelivered || d.Attempts != 1) {
		w.fail(checkRecord, "%s: attempt %d of %s is recorded without its outcome", p.name, d.Attempts, d.ID)
	}
	sent := w.posts[d.Ref()][i]
	o, result := sent.outcome, sent.result()
	e, delays := sent.by, sent.by.Retry.Schedule
	last, together := d.Attempts > len(delays), sent.rejectedTogether()
	var low, high, soonest, latest time.Duration // with and without the wait that the endpoint asked for
	if !last {
		soonest, latest = spread(e.Retry.Jitter, delays[d.Attempts-1])
		asked := o.RetryAfter
		if o.Class == hook.ClassThrottled && !sent.test { // the gate holds the endpoint
			asked = 0
		}
		low, high = max(soonest, asked), max(latest, asked)
		for _, least := range []*time.Duration{&soonest, &low} {
			*least -= time.Millisecond // the precision of the record
		}
		for _, most := range []*time.Duration{&latest, &high} {
			*most += e.Coalesce.Window + time.Millisecond // until the end of the next window
		}
	}
	delay, age := d.NextAttemptAt.Sub(d.UpdatedAt), d.UpdatedAt.Sub(d.CreatedAt)
	right := false
	switch d.State {
	case hook.StateDelivered:
		right = o.Class == hook.ClassDelivered
	case hook.StateRetrying:
		right = result == hook.ResultTransient && !last && age+delay <= e.MaxAge &&
			(delay >= low && delay <= high || age+high > e.MaxAge && delay >= soonest && delay <= latest) || // its wait is not its death
			together && (last || age+latest > e.MaxAge) && age+delay <= e.MaxAge &&
				delay >= -time.Millisecond && delay <= o.RetryAfter+e.Coalesce.Window+time.Millisecond
	case hook.StateDead:
		right = result == hook.ResultRejected && (d.Reason == hook.ReasonRejected || d.Reason == hook.ReasonGone) ||
			result == hook.ResultTransient && last && !together && d.Reason == hook.ReasonExhausted ||
			result == hook.ResultTransient && !last && !together && d.Reason == hook.ReasonExpired && age+latest > e.MaxAge ||
			together && d.Reason == hook.ReasonExpired && age+e.Coalesce.Window+time.Millisecond > e.MaxAge
	case hook.StateParked: // another task parked the delivery during the attempt
		right = result == hook.ResultTransient && (!last || together) && d.NextAttemptAt.IsZero() &&
			old.State == hook.StateParked && old.Parks == d.Parks && old.Reason == d.Reason
	case hook.StateQueued, hook.StateDiscarded, hook.StateCancelled:
	}
	inLast, recorded := cmp.Or(d.Last.Batch, new(hook.Batch)), new(hook.Batch)
	if a != nil {
		recorded = cmp.Or(a.Outcome.Batch, recorded)
	}
	if size := len(sent.members); e.Coalesce.On() && (inLast.Size != size || len(recorded.Members) != 0 && len(recorded.Members) != size) {
		w.fail(checkRecord, "%s: attempt %d of %s was in a request with %d events, and its record says %+v", p.name, d.Attempts, d.ID, size, inLast)
	}
	w.checkStatuses(p, sent, d)
	if !right {
		w.fail(checkRecord, "%s: attempt %d of %s came to %s (retry after %s), and it is %s %s at the age of %s, again after %s; its policy says %s to %s, %s at most",
			p.name, d.Attempts, d.ID, o.Class, o.RetryAfter, d.State, d.Reason, age, delay, low, high, e.MaxAge)
	}
}

// result returns what the answer means for the delivery. An answer that rejects several
// events rejects none of them: each goes alone.
func (s *post) result() hook.Result {
	if s.rejectedTogether() {
		return hook.ResultTransient
	}
	return meaning(&s.by, &s.outcome)
}

func (s *post) rejectedTogether() bool {
	return meaning(&s.by, &s.outcome) == hook.ResultRejected && len(s.members) > 1 && s.outcome.Class != hook.ClassGone
}

// spread returns the documented bounds of the jitter.
func spread(j hook.Jitter, d time.Duration) (low, high time.Duration) {
	switch j {
	case hook.JitterEqual:
		return d / 2, d
	case hook.JitterProportional:
		return d * 9 / 10, d * 11 / 10
	case hook.JitterNone:
		return d, d
	case hook.JitterFull:
	}
	return 0, d
}
