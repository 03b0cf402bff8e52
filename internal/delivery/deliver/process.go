package deliver

import (
	"context"
	"fmt"
	"time"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/delivery/parallel"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/settlement"
)

// process takes the tasks of one endpoint down the way: those that ask the gate, and at the same time the
// others. A panic fails the tasks of this endpoint alone.
func (d *Deliverer) process(ctx context.Context, jobs []*job, snapshot *Snapshot, now time.Time) {
	var err error
	defer func() {
		if err != nil {
			failAll(jobs, err)
		}
	}()
	defer parallel.Recover(&err)
	due, ungated := d.judge(ctx, jobs, snapshot, now)
	parallel.Each(2, 2, func(i int) error {
		if i == 0 {
			d.processUngated(ctx, ungated)
		} else {
			d.processGated(ctx, due, snapshot)
		}
		return nil // each job holds its own error
	})
}

// processGated asks the gate, and takes the steps that it allows. Groups ask one after the other, because
// groups that ask at the same time would compete for the endpoint's limits.
func (d *Deliverer) processGated(ctx context.Context, due []*job, snapshot *Snapshot) {
	var groups []*group
	for _, members := range groupsOf(due) {
		g, err := d.ask(ctx, members, snapshot)
		if err != nil {
			failAll(members, err)
			continue
		}
		groups = append(groups, g)
	}
	parallel.Each(len(groups), len(groups), func(i int) error {
		d.processGroup(ctx, groups[i])
		return nil // each job holds its own error
	})
}

// processUngated takes the steps of tasks that need not ask, and gives back what they hold.
func (d *Deliverer) processUngated(ctx context.Context, jobs []*job) {
	parallel.Each(len(jobs), len(jobs), func(i int) error {
		jobs[i].run(func() (admission.Result, error) { return d.take(ctx, jobs[i]) })
		return nil // each job holds its own error
	})
	for _, j := range jobs {
		d.giveBack(ctx, j.Task.Delivery.Endpoint, func() error { return d.Gate.Return(ctx, j.Endpoint, j.message.Queue, j.ended()) })
	}
}

// giveBack calls the gate, which takes back what tasks held. A failure loses no delivery (see admit.Gate.Done), and
// must not bring the tasks back, so it is only logged, a panic too.
func (d *Deliverer) giveBack(ctx context.Context, endpoint hook.EndpointID, call func() error) {
	d.logDone(ctx, endpoint, func() (err error) {
		defer parallel.Recover(&err)
		return call()
	}())
}

// group has jobs that ask the gate together, with its answer.
type group struct {
	jobs    []*job
	permits *admit.Permits
}

// ask asks the gate about the jobs of one group, and gives each job its next step.
func (d *Deliverer) ask(ctx context.Context, jobs []*job, snapshot *Snapshot) (*group, error) {
	id := jobs[0].Task.Delivery.Endpoint
	due := make([]admission.Due, len(jobs))
	for i, j := range jobs {
		due[i] = admit.DueOf(j.Task)
	}
	permits, err := d.Gate.Ask(ctx, admission.Query{
		Endpoint: jobs[0].Endpoint, State: admission.State{Record: snapshot.circuit(jobs[0].Task.Tenant, id), Limits: snapshot.limits(id)}, Queue: jobs[0].message.Queue, Due: due,
	})
	if err != nil {
		return nil, fmt.Errorf("ask gate of endpoint %s: %w", id, err)
	}
	for i, j := range jobs {
		j.verdict = permits.Answer.Verdicts[i]
		j.step, j.err = stepAfter(&j.subject, j.verdict, d.Now())
	}
	return &group{jobs, permits}, nil
}

// stepAfter returns the step that follows from the verdict about a task.
func stepAfter(s *subject, v admission.Verdict, now time.Time) (settlement.Step, error) {
	switch v.Decision {
	case admission.Park:
		// Write even if the delivery is already parked for the same reason: the breaker may be
		// releasing it. It has sent a task and not yet updated the record. This write makes
		// that update conflict, so the delivery stays parked.
		return settlement.Step{Do: settlement.Write, Decision: settlement.Unattempted(hook.StateParked, v.Reason, now)}, nil
	case admission.Cancel:
		return settlement.Step{Do: settlement.Write, Decision: settlement.Unattempted(hook.StateCancelled, v.Reason, now)}, nil
	case admission.Move:
		// A rate slot stays reserved until it is used, a claim stays, and the mark of a probe is new each time.
		task := settlement.SameTask(s.Task)
		task.Reserved, task.Slot, task.Probe = s.Task.Reserved || v.Reserved, s.Task.Slot, v.Probe
		return settlement.Step{Do: settlement.Send, Sending: &settlement.Sending{Task: task, Queue: v.Queue, At: v.Until}}, nil
	case admission.Busy:
		return settlement.Step{}, errOtherTask
	case admission.Admit:
		return settlement.Step{Do: settlement.Attempt}, nil
	}
	return settlement.Step{}, fmt.Errorf("unknown decision %q of the gate for delivery %s", v.Decision.String(), s.Task.Delivery)
}

// processGroup takes the steps of a group concurrently, and returns to the gate what the tasks held. The
// verdicts stand for the whole group: a circuit that opens after its record was loaded stops no attempt of the group,
// unless the gate has to write the circuit, and meets a conflict. Each delivery is settled by its own outcome. A
// circuit of a later generation ignores the outcomes, but for a 429; the counts of the window include them.
func (d *Deliverer) processGroup(ctx context.Context, g *group) {
	done := ends{tasks: make([]admit.Ended, 0, len(g.jobs))}
	requests, rest := requestsOf(g.jobs)
	open := d.Attempts.Opener(ctx, g.jobs[0].Endpoint)
	n := len(requests) + len(rest)
	parallel.Each(n, n, func(i int) error {
		if i < len(rest) {
			done.run(rest[i], func() (admission.Result, error) { return d.take(ctx, rest[i]) })
		} else {
			d.attempt(ctx, g, requests[i-len(rest)], open, &done)
		}
		return nil // each job holds its own error
	})
	d.giveBack(ctx, g.jobs[0].Task.Delivery.Endpoint, func() error { return d.Gate.Done(ctx, g.permits, done.tasks) })
}

// take takes the step of one job that makes no attempt.
func (d *Deliverer) take(ctx context.Context, j *job) (r admission.Result, err error) {
	switch j.step.Do {
	case settlement.Resume:
		return r, d.Settler.FollowUp(ctx, &j.subject, j.Delivery)
	case settlement.Send:
		return r, d.Settler.Send(ctx, *j.step.Sending)
	case settlement.Write:
		return d.writeUnattempted(ctx, &j.subject, j.step.Decision)
	case settlement.Await:
		return r, d.Settler.AwaitTurn(ctx, j.Delivery)
	case settlement.Join:
		return r, d.Settler.Join(ctx, j.Delivery)
	case settlement.Drop, settlement.Attempt:
	}
	return r, nil
}
