package deliver

import (
	"context"
	"sync"
	"time"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/delivery/attempt"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/settlement"
	"surehook.example/surehook/internal/rule/stats"
)

// writeAttempt writes the decision after the request.
func (d *Deliverer) writeAttempt(ctx context.Context, s *subject, a *attempt.Attempt) (admission.Result, error) {
	written, err := d.Settler.Write(ctx, s, settlement.Attempted(&a.Outcome, a.Started, a.Ended))
	d.logAttempted(ctx, s, &a.Outcome, written.Record, a.Ended)
	return resultOf(s, &a.Outcome, written, a.Ended), err
}

// writeUnattempted writes a decision without an attempt.
func (d *Deliverer) writeUnattempted(ctx context.Context, s *subject, decision settlement.Decision) (admission.Result, error) {
	written, err := d.Settler.Write(ctx, s, decision)
	if written.Own {
		s.Delivery = written.Record // as parked: a slot may be free for it now
	}
	d.logDecided(ctx, s, written.Record)
	return resultOf(s, new(hook.Outcome), written, d.Now()), err
}

// resultOf returns the result of an attempt, or of a decision without an attempt (class 0). If
// another decision stands, or a copy of the task made the decision and counts the delivery,
// the state is 0 and the result only says what the endpoint answered.
func resultOf(s *subject, o *hook.Outcome, w settle.Written, now time.Time) admission.Result {
	r := admission.Result{
		Attempt:    stats.Attempt{Type: s.Event.Type, Class: o.Class, Status: o.Status, Number: s.Task.Attempt, Duration: o.Duration},
		RetryAfter: o.RetryAfter,
		Stale:      o.Stale && s.Delivery.Stale == 0,
	}
	r.WithLeader = o.Batch.Several() && o.Batch.Leader != s.Task.Delivery.DeliveryID
	if !w.Made {
		return r
	}
	r.State, r.Age = w.Record.State, now.Sub(w.Record.CreatedAt)
	if o.Class != 0 && s.Task.Attempt == 1 && w.Record.Parks == 0 {
		r.Queued = max(r.Age-o.Duration, 0)
	}
	return r
}

// ends are the tasks of a group in the order of their ends, by which the circuit judges them.
type ends struct {
	mu    sync.Mutex
	tasks []admit.Ended
}

// run runs f for the job, whose task then ends.
func (e *ends) run(j *job, f func() (admission.Result, error)) {
	j.run(f)
	e.add(j)
}

// fail ends the jobs with the error, so that their messages come again.
func (e *ends) fail(jobs []*job, err error) {
	failAll(jobs, err)
	e.add(jobs...)
}

func (e *ends) add(jobs ...*job) {
	e.mu.Lock()
	defer e.mu.Unlock()

	for _, j := range jobs {
		e.tasks = append(e.tasks, j.ended())
	}
}
