package deliver

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"surehook/internal/delivery/attempt"
	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
	"surehook/internal/names"
	"surehook/internal/rule/settlement"
	"surehook/internal/rule/speed"
)

// processEndpoint judges each token of one endpoint, and processes the due tokens together.
// Per attempt, one token of the batch decides; the other due tokens fail and return.
func (d *Deliverer) processEndpoint(ctx context.Context, jobs []*job, snapshot *Snapshot, now time.Time, made *results) {
	var (
		work         []func() // at the same time
		due, decided []*job   // by the gate, and without the gate
		taken        []attemptKey
	)
	for _, j := range jobs {
		st := d.judgeJob(ctx, j, snapshot, now)
		if st != settlement.Attempt && j.err == nil {
			j.lease = claimOf(j.Token)
			decided = append(decided, j)
		}
		if st == settlement.Attempt || st == settlement.Expire || st == settlement.Erase {
			key := attemptOf(j.Token)
			if slices.Contains(taken, key) {
				j.err = errOtherToken
				continue
			}
			taken = append(taken, key)
		}
		switch st {
		case settlement.Drop:
		case settlement.Resume, settlement.Defer, settlement.Expire, settlement.Erase:
			work = append(work, func() {
				made.run(j, func() (gate.Result, error) { return d.applyStep(ctx, &j.subject, st, now) })
			})
		case settlement.Attempt:
			due = append(due, j)
		}
	}
	if len(due) > 0 {
		work = append(work, func() { d.processDue(ctx, due, snapshot, made) })
	}
	runAll(work)
	for _, j := range decided {
		d.handOver(ctx, []*job{j}, snapshot.circuit(j.Token.Tenant, j.Token.Delivery.Endpoint))
		d.leavePlace(ctx, j)
	}
}

// processDue asks the gate about the groups of the due jobs of one endpoint, one group
// after the other: groups that ask together would compete for the endpoint's limits. The
// admitted groups are processed concurrently.
func (d *Deliverer) processDue(ctx context.Context, jobs []*job, snapshot *Snapshot, made *results) {
	groups := groupsOf(jobs)
	var wg sync.WaitGroup
	for i, members := range groups {
		g, err := d.askGate(ctx, members, snapshot)
		if err != nil {
			failAll(members, fmt.Errorf("ask gate of endpoint %s: %w", members[0].Token.Delivery.Endpoint, err))
			continue
		}
		if i == len(groups)-1 {
			d.processGroup(ctx, g, made) // here, as in package parallel
			break
		}
		wg.Go(func() { d.processGroup(ctx, g, made) })
	}
	wg.Wait()
}

// group is a group of jobs, with the question to the gate and its answer.
type group struct {
	gate.Query
	gate.Admission

	jobs []*job
}

// askGate asks the gate about the jobs of one group.
func (d *Deliverer) askGate(ctx context.Context, jobs []*job, snapshot *Snapshot) (*group, error) {
	id := jobs[0].Token.Delivery.Endpoint
	record := snapshot.circuit(jobs[0].Token.Tenant, id)
	g := &group{jobs: jobs, Query: gate.Query{
		Tenant: record.Tenant, ID: id, Endpoint: jobs[0].Endpoint, Record: record, Limits: snapshot.limits(id), Lane: jobs[0].message.Lane,
		Due: make([]gate.Due, len(jobs)),
	}}
	for i, j := range jobs {
		g.Due[i] = dueOf(j.Token)
	}
	var err error
	g.Admission, err = d.Gate.Admit(ctx, &g.Query)
	return g, err //nolint:wrapcheck // processEndpoint names the endpoint
}

// processGroup applies the gate's verdicts concurrently, reports the results to the gate
// and adds them to made.
func (d *Deliverer) processGroup(ctx context.Context, g *group, made *results) {
	own := results{all: make([]gate.Result, 0, len(g.jobs))}
	watch := d.watch(ctx, g)
	open := d.Attempts.Opener(ctx, g.Endpoint)
	var (
		together []*job   // in one request
		work     []func() // of the others, at the same time
	)
	for i, j := range g.jobs {
		j.lease = leaseOf(j.Token, g.Verdicts[i])
		if g.Verdicts[i].Decision == gate.Admit && g.Endpoint.Coalesce.On() {
			together = append(together, j)
			continue
		}
		work = append(work, func() {
			watch.running.Add(1)
			defer watch.running.Add(-1)
			own.run(j, func() (r gate.Result, err error) {
				j.result, err = d.applyVerdict(ctx, &j.subject, g.Verdicts[i], g.Lane, open)
				return j.result, err
			})
		})
	}
	if len(together) > 0 {
		work = append(work, func() {
			watch.running.Add(1)
			defer watch.running.Add(-1)
			d.attemptTogether(ctx, together, open, &own)
		})
	}
	runAll(work)
	attempts := own.attempts()
	requests := requestsOf(attempts)
	watch.end(requests)
	if !g.Lane.Single() {
		d.credits.earn(g.ID, inTime(requests), d.Now())
	}
	made.add(own.all...)
	d.askOnceMore(ctx, g.jobs, g.Record)
	d.settleEndpoint(ctx, g, attempts)
}

// dueOf returns the token as the gate sees it.
func dueOf(t hook.Token) gate.Due {
	return gate.Due{Delivery: t.Delivery.DeliveryID, Attempt: t.Attempt, Nonce: t.Nonce, Reserved: t.Reserved, Slot: t.Slot, Probe: t.Probe}
}

// settleEndpoint reports the results to the gate, and hands the slots over. An attempt
// that failed may have opened the circuit: then no slot is handed over. An attempt that
// succeeded never opens the circuit, so a parked delivery need not wait for the counts.
func (d *Deliverer) settleEndpoint(ctx context.Context, g *group, attempts []gate.Result) {
	settle := func() {
		// Deliveries are already settled, so log and continue. Later attempts correct
		// the circuit, and leases expire.
		if err := d.Gate.Settle(ctx, g.Admission, attempts); err != nil {
			d.Log.ErrorContext(ctx, "gate.settle_failed",
				slog.String(names.LogEndpoint, string(g.ID)), slog.Any(names.LogError, err))
		}
	}
	if !allSucceeded(attempts) || !holdsSlot(g.jobs) {
		settle()
		d.handOver(ctx, g.jobs, g.Record)
		return
	}
	var settled sync.WaitGroup
	settled.Go(settle)
	d.handOver(ctx, g.jobs, g.Record)
	settled.Wait()
}

// holdsSlot reports whether a job has an in-flight slot to hand over.
func holdsSlot(jobs []*job) bool {
	return slices.ContainsFunc(jobs, func(j *job) bool { return j.lease.Key != "" })
}

// allSucceeded reports whether the endpoint answered each attempt with 2xx; false without
// attempts.
func allSucceeded(attempts []gate.Result) bool {
	return len(attempts) > 0 && !slices.ContainsFunc(attempts, func(r gate.Result) bool { return r.Class != hook.ClassDelivered })
}

// leaseOf returns the slot to hand over after the verdict is applied. A moved token
// keeps the claim, and the token of a busy delivery returns.
func leaseOf(t hook.Token, v gate.Verdict) gate.Held {
	switch v.Decision {
	case gate.Admit:
		if v.Lease.Key != "" {
			return v.Lease
		}
		return claimOf(t) // a probe needs no slot: the circuit opened after the claim
	case gate.Park, gate.Delay, gate.Cancel:
		return claimOf(t)
	case gate.Move, gate.Busy:
	}
	return gate.Held{}
}

// watch watches the attempts of a fast endpoint in a lane of batches.
func (d *Deliverer) watch(ctx context.Context, g *group) *lateWatch {
	admitted := 0
	for _, v := range g.Verdicts {
		if v.Decision == gate.Admit {
			admitted++
		}
	}
	if admitted > 0 && g.Endpoint.Coalesce.On() {
		admitted = 1 // request
	}
	return watchLate(d.AfterFunc, admitted, func(late int) {
		if g.Lane.Single() || g.Record.SpeedAtNow(d.Now()) != speed.Fast {
			return
		}
		if late = d.credits.forgive(g.ID, late, d.Now()); late == 0 {
			return
		}
		if err := d.Gate.Late(ctx, g.Tenant, g.ID, late); err != nil {
			d.Log.ErrorContext(ctx, "gate.late_failed", slog.String(names.LogEndpoint, string(g.ID)), slog.Any(names.LogError, err))
		}
	})
}

// applyVerdict acts on the gate's verdict about one delivery, whose token came in the lane.
func (d *Deliverer) applyVerdict(
	ctx context.Context, s *subject, v gate.Verdict, lane hook.Lane, open attempt.Opener,
) (gate.Result, error) {
	switch v.Decision {
	case gate.Park:
		// Write also when the delivery is parked for the same reason. A concurrent
		// release may have sent the token without updating the record yet. The write
		// makes the update of the release conflict, so the delivery stays parked.
		return d.settleUnattempted(ctx, s, settlement.Unattempted(hook.StateParked, v.Reason, d.Now()))
	case gate.Cancel:
		return d.settleUnattempted(ctx, s, settlement.Unattempted(hook.StateCancelled, v.Reason, d.Now()))
	case gate.Delay:
		token := settlement.SameToken(s.Token)
		token.Reserved = true
		if lane != hook.LaneOverflow {
			lane = cmp.Or(v.Lane, hook.LaneRetry) // in the lane slot, the place ends during the wait
		}
		d.logDelayed(ctx, s, v.Until)
		return gate.Result{}, d.sendToken(ctx, settlement.Sending{Token: token, Lane: lane, At: v.Until})
	case gate.Move:
		token := settlement.SameToken(s.Token)
		token.Reserved, token.Slot, token.Probe = s.Token.Reserved, s.Token.Slot, v.Probe
		return gate.Result{}, d.sendToken(ctx, settlement.Sending{Token: token, Lane: v.Lane, At: v.Until})
	case gate.Busy:
		return gate.Result{}, errOtherToken
	case gate.Admit:
		return d.makeAttempt(ctx, s, open)
	}
	return gate.Result{}, fmt.Errorf("unknown decision %d of the gate for delivery %s", v.Decision, s.Token.Delivery)
}

// makeAttempt makes the attempt and settles the outcome.
func (d *Deliverer) makeAttempt(ctx context.Context, s *subject, open attempt.Opener) (gate.Result, error) {
	made, err := d.Attempts.Make(ctx, s, s.Event, open)
	if err != nil {
		return gate.Result{}, err //nolint:wrapcheck // the line of the message names it
	}
	return d.settleAttempt(ctx, s, made)
}

// settleAttempt settles the delivery after the request.
func (d *Deliverer) settleAttempt(ctx context.Context, s *subject, a *attempt.Attempt) (gate.Result, error) {
	written, err := d.settleDelivery(ctx, s, settlement.Attempted(&a.Outcome, a.Started, a.Ended))
	d.logAttempted(ctx, s, &a.Outcome, written.record, a.Ended)
	return resultOf(s, &a.Outcome, written, a.Ended), err
}
