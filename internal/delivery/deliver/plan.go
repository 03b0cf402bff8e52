package deliver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
	"surehook/internal/rule/isolation"
	"surehook/internal/rule/settlement"
)

// plan judges the jobs of one endpoint. decided have a step of their own; due ask the gate.
// Per attempt, one token of the batch decides; the others fail and return.
func (d *Deliverer) plan(ctx context.Context, jobs []*job, snapshot *Snapshot, now time.Time) (decided, due []*job) {
	var taken []attemptKey
	for _, j := range jobs {
		if j.step, j.err = judge(j, snapshot, now); j.err != nil {
			continue
		}
		if key := attemptOf(j.Token); j.step.Decides() {
			if slices.Contains(taken, key) {
				j.err = errOtherToken
				continue
			}
			taken = append(taken, key)
		}
		switch j.step.Do {
		case settlement.Attempt:
			due = append(due, j)
			continue
		case settlement.Drop:
			d.logDropped(ctx, j.Token, j.step.Reason)
		case settlement.Resume, settlement.Send, settlement.Settle:
		}
		j.lease = claimOf(j.Token)
		decided = append(decided, j)
	}
	return decided, due
}

// judge finds the job's records and returns the next step.
func judge(j *job, snapshot *Snapshot, now time.Time) (settlement.Step, error) {
	found, ok, err := findSubject(j.Token, snapshot, now)
	if err != nil {
		return settlement.Step{}, fmt.Errorf("find delivery %s: %w", j.Token.Delivery, err)
	}
	if !ok {
		return settlement.Step{Do: settlement.Drop, Reason: "the event is gone, or no replay is recorded"}, nil
	}
	j.subject = found
	return settlement.Judge(&j.subject, now), nil
}

var errForeignToken = errors.New("the token names a delivery unknown to the event")

type subject = settlement.Subject

// findSubject returns the records for the token. ok is false when the event is
// gone or expired, when another event took its id with a reused idempotency key, and when no
// record confirms the replay named by the token. A token of another tenant, endpoint
// or shard than the event's is an error.
func findSubject(t hook.Token, from *Snapshot, now time.Time) (s subject, ok bool, err error) {
	event, ok := from.Events[t.Delivery.Event]
	if !ok || event.Expired(now) {
		return subject{}, false, nil
	}
	ref, target := event.Ref(t.Delivery.Endpoint, t.Delivery.Generation)
	switch {
	case event.Tenant != t.Tenant:
		return subject{}, false, errForeignToken
	case event.AcceptedAt.UnixMilli() != t.Delivery.AcceptedAt: // the events may have other targets
		return subject{}, false, nil
	case !target || ref != t.Delivery:
		return subject{}, false, errForeignToken
	}
	s = subject{Token: t, Event: event, Endpoint: from.Endpoints[t.Delivery.Endpoint]}
	if d, ok := from.Deliveries[t.Delivery]; ok {
		s.Delivery = d
		return s, true, nil
	}
	before, replay := t.Delivery.Predecessor()
	if !replay {
		s.Delivery = new(hook.QueuedDelivery(*event, hook.Target{Endpoint: t.Delivery.Endpoint}).At(ref))
		return s, true, nil
	}
	replayed, ok := from.Deliveries[before]
	if !ok {
		return s, false, nil
	}
	s.Delivery = new(hook.QueuedReplay(*event, *replayed))
	return s, replayed.Replayed.Generation == t.Delivery.Generation, nil
}

// group is a group of jobs, with the question to the gate and its answer.
type group struct {
	gate.Query
	gate.Admission

	jobs []*job
}

// ask asks the gate about the jobs of one group, and gives each job its step.
func (d *Deliverer) ask(ctx context.Context, jobs []*job, snapshot *Snapshot) (*group, error) {
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
	if g.Admission, err = d.Gate.Admit(ctx, &g.Query); err != nil {
		return nil, fmt.Errorf("ask gate of endpoint %s: %w", id, err)
	}
	for i, j := range jobs {
		j.lease = leaseOf(j.Token, g.Verdicts[i])
		j.step, j.err = admitted(&j.subject, g.Verdicts[i], g.Lane, d.Now())
	}
	return g, nil
}

// admitted returns the step that follows from the verdict about a token of the lane.
func admitted(s *subject, v gate.Verdict, lane hook.Lane, now time.Time) (settlement.Step, error) {
	switch v.Decision {
	case gate.Park:
		// Write also when the delivery is parked for the same reason. A concurrent
		// release may have sent the token without updating the record yet. The write
		// makes the update of the release conflict, so the delivery stays parked.
		return settlement.Step{Do: settlement.Settle, Decision: settlement.Unattempted(hook.StateParked, v.Reason, now)}, nil
	case gate.Cancel:
		return settlement.Step{Do: settlement.Settle, Decision: settlement.Unattempted(hook.StateCancelled, v.Reason, now)}, nil
	case gate.Delay:
		token := settlement.SameToken(s.Token)
		token.Reserved = true
		if lane != hook.LaneOverflow {
			lane = cmp.Or(v.Lane, hook.LaneRetry) // in the lane slot, the place ends during the wait
		}
		return settlement.Step{Do: settlement.Send, Sending: settlement.Sending{Token: token, Lane: lane, At: v.Until}}, nil
	case gate.Move:
		token := settlement.SameToken(s.Token)
		token.Reserved, token.Slot, token.Probe = s.Token.Reserved, s.Token.Slot, v.Probe
		return settlement.Step{Do: settlement.Send, Sending: settlement.Sending{Token: token, Lane: v.Lane, At: v.Until}}, nil
	case gate.Busy:
		return settlement.Step{}, errOtherToken
	case gate.Admit:
		return settlement.Step{Do: settlement.Attempt}, nil
	}
	return settlement.Step{}, fmt.Errorf("unknown decision %d of the gate for delivery %s", v.Decision, s.Token.Delivery)
}

// leaseOf returns the slot to hand over after the verdict is applied. A moved token
// keeps the claim, and the token of a busy delivery returns.
func leaseOf(t hook.Token, v gate.Verdict) isolation.Held {
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
	return isolation.Held{}
}
