package deliver

import (
	"slices"
	"sync"
	"time"

	"surehook.example/surehook/internal/delivery/gate"
	"surehook.example/surehook/internal/delivery/parallel"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/stats"
)

// resultOf returns the result of an attempt, or of a decision without an attempt (class 0). If
// another decision stands, or a copy of the token made the decision and counts the delivery,
// the state is 0 and the result only says what the endpoint answered.
func resultOf(s *subject, o *hook.Outcome, w settle.Written, now time.Time) gate.Result {
	r := gate.Result{
		Attempt:    stats.Attempt{Type: s.Event.Type, Class: o.Class, Number: s.Token.Attempt, Duration: o.Duration},
		RetryAfter: o.RetryAfter,
		Stale:      o.Stale && s.Delivery.Stale == 0,
	}
	r.Shared = o.Batch.Several() && o.Batch.Leader != s.Token.Delivery.DeliveryID
	if !w.Made {
		return r
	}
	r.State, r.Age = w.Record.State, now.Sub(w.Record.CreatedAt)
	if o.Class != 0 && s.Token.Attempt == 1 && w.Record.Parks == 0 {
		r.Queued = max(r.Age-o.Duration, 0)
	}
	return r
}

// results collects the results of a batch, ordered by end.
type results struct {
	mu  sync.Mutex
	all []gate.Result
}

// run calls f for the job, keeps its result, and sets the job's result and error.
func (r *results) run(j *job, f func() (gate.Result, error)) {
	defer parallel.Recover(&j.err)
	j.result, j.err = f()
	r.add(j.result)
}

// add keeps the results with a class or a state.
func (r *results) add(more ...gate.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()

	for _, one := range more {
		if one.Class != 0 || one.State != 0 {
			r.all = append(r.all, one)
		}
	}
}

// attempts returns the results of attempts.
func (r *results) attempts() []gate.Result {
	return slices.DeleteFunc(slices.Clone(r.all), func(one gate.Result) bool { return one.Class == 0 })
}

// requestsOf returns the results with one per request: without those of the other members of a
// batch.
func requestsOf(attempts []gate.Result) []gate.Result {
	shared := func(one gate.Result) bool { return one.Shared }
	if !slices.ContainsFunc(attempts, shared) {
		return attempts
	}
	return slices.DeleteFunc(slices.Clone(attempts), shared)
}
