package deliver

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"surehook.example/surehook/internal/delivery/parallel"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/settlement"
)

// process takes the tokens of one endpoint down the way: those that are decided, and those that ask
// the gate. Groups ask one after the other, because groups that ask at the same time would compete
// for the endpoint's limits.
func (d *Deliverer) process(ctx context.Context, jobs []*job, snapshot *Snapshot, now time.Time, made *results) {
	decided, due := d.judge(ctx, jobs, snapshot, now)
	var others sync.WaitGroup
	defer others.Wait()
	others.Go(func() { d.processDecided(ctx, decided, made) })
	var groups []*group
	for _, members := range groupsOf(due) {
		g, err := d.admit(ctx, members, snapshot)
		if err != nil {
			failAll(members, err)
			continue
		}
		groups = append(groups, g)
	}
	parallel.Each(len(groups), len(groups), func(i int) error {
		d.processGroup(ctx, groups[i], made)
		return nil // each job holds its own error
	})
}

// processDecided takes the steps of tokens that need not ask, and gives back what they hold.
func (d *Deliverer) processDecided(ctx context.Context, jobs []*job, made *results) {
	parallel.Each(len(jobs), len(jobs), func(i int) error {
		made.run(jobs[i], func() (admission.Result, error) { return d.take(ctx, jobs[i]) })
		return nil // each job holds its own error
	})
	for _, j := range jobs {
		d.handOver(ctx, []*job{j})
		d.leavePlace(ctx, j)
	}
}

// group is a group of jobs that ask the gate together, with the query and its answer.
type group struct {
	admission.Query
	admission.Admission

	jobs []*job
}

// admit asks the gate about the jobs of one group, and gives each job its next step.
func (d *Deliverer) admit(ctx context.Context, jobs []*job, snapshot *Snapshot) (*group, error) {
	id := jobs[0].Token.Delivery.Endpoint
	g := &group{jobs: jobs, Query: admission.Query{
		Endpoint: jobs[0].Endpoint, Record: snapshot.circuit(jobs[0].Token.Tenant, id), Limits: snapshot.limits(id), Lane: jobs[0].message.Lane,
		Due: make([]admission.Due, len(jobs)),
	}}
	for i, j := range jobs {
		g.Due[i] = dueOf(j.Token)
	}
	var err error
	if g.Admission, err = d.Gate.Admit(ctx, &g.Query); err != nil {
		return nil, fmt.Errorf("ask gate of endpoint %s: %w", id, err)
	}
	for i, j := range jobs {
		j.lease, j.inFlight = leaseOf(j.Token, g.Verdicts[i]), g.Verdicts[i].InFlight
		j.step, j.err = admitted(&j.subject, g.Verdicts[i], d.Now())
	}
	return g, nil
}

// admitted returns the step that follows from the verdict about a token.
func admitted(s *subject, v admission.Verdict, now time.Time) (settlement.Step, error) {
	switch v.Decision {
	case admission.Park:
		// Write even if the delivery is already parked for the same reason: the breaker may be
		// releasing it. It has sent a token and not yet updated the record. This write makes
		// that update conflict, so the delivery stays parked.
		return settlement.Step{Do: settlement.Settle, Decision: settlement.Unattempted(hook.StateParked, v.Reason, now)}, nil
	case admission.Cancel:
		return settlement.Step{Do: settlement.Settle, Decision: settlement.Unattempted(hook.StateCancelled, v.Reason, now)}, nil
	case admission.Move:
		token := settlement.SameToken(s.Token)
		token.Reserved, token.Slot, token.Probe = s.Token.Reserved || v.Reserved, s.Token.Slot, v.Probe
		return settlement.Step{Do: settlement.Send, Sending: &settlement.Sending{Token: token, Lane: v.Lane, At: v.Until}}, nil
	case admission.Busy:
		return settlement.Step{}, errOtherToken
	case admission.Admit:
		return settlement.Step{Do: settlement.Attempt}, nil
	}
	return settlement.Step{}, fmt.Errorf("unknown decision %d of the gate for delivery %s", v.Decision, s.Token.Delivery)
}

// leaseOf returns the lease to hand over once the verdict is applied. A moved token keeps its
// claim, and the token of a busy delivery comes again.
func leaseOf(t hook.Token, v admission.Verdict) admission.Held {
	switch v.Decision {
	case admission.Admit:
		if v.Lease.Key != "" {
			return v.Lease
		}
		return claimOf(t) // a probe needs no slot: the circuit opened after the claim
	case admission.Park, admission.Cancel:
		return claimOf(t)
	case admission.Move, admission.Busy:
	}
	return admission.Held{}
}

// processGroup takes the steps of a group concurrently, adds the results to made, and reports
// them to the gate.
func (d *Deliverer) processGroup(ctx context.Context, g *group, made *results) {
	own := results{all: make([]admission.Result, 0, len(g.jobs))}
	requests, rest := requestsOf(g.jobs)
	watch := d.watch(ctx, g)
	open := d.Attempts.Opener(ctx, g.Endpoint)
	n := len(requests) + len(rest)
	parallel.Each(n, n, func(i int) error {
		if i < len(rest) {
			own.run(rest[i], func() (admission.Result, error) { return d.take(ctx, rest[i]) })
			return nil // each job holds its own error
		}
		watch.running.Add(1)
		defer watch.running.Add(-1)
		d.attempt(ctx, requests[i-len(rest)], open, &own)
		return nil
	})
	attempted := own.attempts()
	d.learnSpeed(g, watch, distinct(attempted))
	made.add(own.all...)
	d.fillAfterPark(ctx, g.jobs, g.Record)
	d.learn(ctx, g, attempted)
}

// take takes the step of one job that makes no attempt.
func (d *Deliverer) take(ctx context.Context, j *job) (r admission.Result, err error) {
	switch j.step.Do {
	case settlement.Resume:
		return r, d.Settler.FollowUp(ctx, &j.subject, j.Delivery)
	case settlement.Send:
		return r, d.Settler.Send(ctx, *j.step.Sending)
	case settlement.Settle:
		return d.settleUnattempted(ctx, &j.subject, j.step.Decision)
	case settlement.Drop, settlement.Attempt:
	}
	return r, nil
}

// learn reports the results to the gate, and hands the slots over. After a failed attempt the
// report comes first: it may open the circuit, and then no slot is handed over. After a success
// both happen at the same time, so that a parked delivery does not wait for the counts.
func (d *Deliverer) learn(ctx context.Context, g *group, attempts []admission.Result) {
	var reported sync.WaitGroup
	reported.Go(func() {
		d.logFailed(ctx, "gate.settle_failed", g.Record.Endpoint, d.Gate.Settle(ctx, g.Admission, attempts))
	})
	if slices.ContainsFunc(attempts, func(r admission.Result) bool { return r.Class != hook.ClassDelivered }) {
		reported.Wait()
	}
	d.handOver(ctx, g.jobs)
	reported.Wait()
}
