package admission

import (
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/stats"
)

// Result is the result of one admitted attempt.
type Result struct {
	stats.Attempt

	RetryAfter time.Duration // the wait after a 429
	Stale      bool          // a stale connection lost the request, which says nothing about the endpoint
}

// Outcomes sums up the results of a batch, ordered by their end.
type Outcomes struct {
	circuit.Results

	Counts     *stats.Counts
	attempted  bool // at least one attempt ended; otherwise the tasks of all come again
	requested  bool // at least one request was made; otherwise nothing is known about the endpoint
	delivered  bool // at least one answer was 2xx
	throttled  bool
	retryAfter time.Duration // the longest of the batch
}

// Aggregate sums up the results. It resets and uses counts.
func Aggregate(results []Result, counts *stats.Counts) Outcomes {
	*counts = stats.Counts{}
	o := Outcomes{Counts: counts}
	for _, r := range results {
		o.count(r)
	}
	return o
}

// count adds a result.
func (o *Outcomes) count(r Result) {
	o.attempted = true
	o.Counts.Count(r.Attempt)
	if r.WithLeader || r.Stale || !r.Class.Requested() {
		return
	}
	o.requested = true
	switch {
	case r.Class == hook.ClassThrottled: // a rate limit in front of a backend that is down answers so, too
		o.throttled = true
		o.retryAfter = max(o.retryAfter, r.RetryAfter)
	case r.Class.Failing():
		o.Failed++
		o.Trailing++
		o.Passed = 0
		o.Counts.Failed++
	default:
		o.Alive = true
		o.Trailing = 0
		o.Passed++
		o.Counts.OK++
		o.delivered = o.delivered || r.Class == hook.ClassDelivered
	}
}

// NeedsWindow reports whether the outcomes are judged by the counts of the last ten minutes: those of a
// probe and of a test event are not.
func (a Admission) NeedsWindow() bool { return a.probe == "" && !a.test }

// copyMayProbe reports whether a copy of the probe's task may be making an attempt, too: one was admitted before
// it, or has asked since and changed the end of the lease.
func (a Admission) copyMayProbe(r Record) bool {
	return a.copiedProbe || !r.LeaseUntil.Truncate(time.Millisecond).Equal(a.Next.Record.LeaseUntil.Truncate(time.Millisecond))
}

// After returns the record after the outcomes of the admitted attempts.
func (r Record) After(a Admission, o Outcomes, window circuit.Counts, now time.Time) Record {
	if !o.requested && a.probe == "" {
		return r
	}
	settings := circuit.Settings{CircuitSettings: a.endpoint.Circuit.WithDefaults(), Fragile: r.Review.Fragile}
	before := r
	switch {
	case a.test:
		r = r.afterTest(a, o, settings, now)
	case a.probe != "":
		r.Circuit = r.AfterProbe(circuit.ProbeResult{
			Holder: a.probe, Generation: a.Next.Record.Generation, Alive: o.Alive || o.throttled,
			Unmade: !o.requested, Returns: !o.attempted, Copied: a.copyMayProbe(r),
		}, settings, now)
	default:
		r.Circuit = r.AfterBatch(o.Results, window, a.Next.Record.Circuit, settings, now)
	}
	if o.throttled && !a.test {
		until := now.Add(o.retryAfter).Truncate(time.Millisecond)
		if !now.Before(r.ThrottledUntil) { // the first 429 since the last hold: attempts in flight together are refused together
			r.Pace = r.Pace.slower(window, until, now)
		}
		if until.After(r.ThrottledUntil) {
			r = r.heldUntil(until)
		}
	}
	if o.requested {
		r = r.seen(now)
	}
	if r.Generation != before.Generation {
		r.Untold = Untold{Earlier: r.Untold.Last, Last: r.transition(window, now)}
	}
	switch {
	case r.State == before.State && r.Generation == before.Generation:
		if r.frees(before, now) {
			return r.Release(now)
		}
		return r
	case r.State == circuit.Closed:
		return r.unproven(now).Release(now)
	case before.State == circuit.Closed:
		return r.opened(before, now)
	}
	return r.planCheck(now)
}

// afterTest returns the record after a test event. If the endpoint answered it with 2xx, this is
// as good as the success of a probe, and ends the wait that a 429 asked for, and the pace. Other answers say
// nothing: the test event may be one that the endpoint does not expect.
func (r Record) afterTest(a Admission, o Outcomes, s circuit.Settings, now time.Time) Record {
	if !o.delivered {
		return r
	}
	r.ThrottledUntil, r.Pace = time.Time{}, Pace{}
	r.Circuit = r.AfterProbe(circuit.ProbeResult{Generation: a.Next.Record.Generation, Alive: true}, s, now)
	return r
}
