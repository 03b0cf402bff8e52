package admission

import (
	"time"
)

// rule is a row of the table of docs/circuit.md. applies returns the verdict about a task, or false. The order of
// the rows matters also because one that does not apply may take what a later one needs: see aboveRate.
type rule struct {
	condition string // as in docs/circuit.md
	applies   func(a *asking, due Due) (Verdict, bool)
}

// rules returns the rows in their order: the first one that applies to a task decides.
func rules() []rule {
	return []rule{
		{"endpoint deleted", (*asking).deleted},
		{"endpoint paused or disabled", (*asking).stopped},
		{"test event", (*asking).testEvent},
		{"circuit not closed, recent 429", (*asking).openAndThrottled},
		{"cooldown over, chosen by the breaker or nothing parked", (*asking).probes},
		{"circuit not closed", (*asking).open},
		{"circuit closed, recent 429", (*asking).throttled},
		{"coalescing", (*asking).coalesces},
		{"needs an in-flight slot, and others wait", (*asking).behindOthers},
		{"needs an in-flight slot, in a queue of batches", (*asking).elsewhere},
		{"above the rate, and others wait, or the next rate slot is over a minute away (pace: 5 s)", (*asking).farAboveRate},
		{"above the rate", (*asking).aboveRate},
		{"in the queue slot without a share", (*asking).withoutShare},
		{"needs an in-flight slot", (*asking).inFlight},
		{"otherwise", func(*asking, Due) (Verdict, bool) { return Verdict{Decision: Admit}, true }},
	}
}

// Conditions returns the conditions of the rows, in their order. The documents are held against them.
func Conditions() []string {
	var all []string
	for _, r := range rules() {
		all = append(all, r.condition)
	}
	return all
}

// Ask returns a verdict for each task of the query. Later tasks find what earlier ones took.
func Ask(q *Query, now time.Time) Admission {
	a := asking{query: q, before: q.Record, now: now, Admission: Admission{Next: q.State, endpoint: q.Endpoint}}
	if q.Endpoint != nil {
		a.most = q.Record.MostSlots(q.Endpoint, now)
		a.rate, a.rateWait = q.Record.RateNow(q.Endpoint, now), q.Record.RateWait(q.Endpoint, now)
	}
	rows := rules()
	for _, due := range q.Due {
		for _, r := range rows {
			verdict, ok := r.applies(&a, due)
			if a.Lacks != 0 {
				return a.Admission
			}
			if ok {
				a.Verdicts = append(a.Verdicts, verdict)
				break
			}
		}
	}
	a.finish()
	return a.Admission
}

// asking is one call of Ask.
type asking struct {
	Admission

	query    *Query
	before   Record
	now      time.Time
	most     int           // the highest number of in-flight slots; 0: an attempt needs none
	rate     float64       // attempts per second; 0: no limit
	rateWait time.Duration // that a task waits for a rate slot at most
	probed   bool          // a task is the probe
	group    []Verdict     // of a coalescing endpoint; nil: not decided yet
}

// finish plans a check for what is parked.
func (a *asking) finish() {
	if a.Next.Record.Circuit != a.before.Circuit {
		a.Next.Record = a.Next.Record.planCheck(a.now)
	}
	for _, v := range a.Verdicts {
		if v.Decision == Park && a.CheckAt.IsZero() {
			a.CheckAt, a.Next.Record = v.Until, a.Next.Record.ExpectParked(a.now)
		}
	}
}
