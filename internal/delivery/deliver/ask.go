package deliver

import (
	"context"
	"fmt"
	"time"

	"surehook.example/surehook/internal/delivery/gate"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/isolation"
	"surehook.example/surehook/internal/rule/settlement"
)

// group is a group of jobs, with the query to the gate and its answer.
type group struct {
	gate.Query
	gate.Admission

	jobs []*job
}

// ask asks the gate about the jobs of one group, and gives each job its next step.
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
		j.lease, j.inFlight = leaseOf(j.Token, g.Verdicts[i]), g.Verdicts[i].InFlight
		j.step, j.err = admitted(&j.subject, g.Verdicts[i], d.Now())
	}
	return g, nil
}

// admitted returns the step that follows from the verdict about a token.
func admitted(s *subject, v gate.Verdict, now time.Time) (settlement.Step, error) {
	switch v.Decision {
	case gate.Park:
		// Write even if the delivery is already parked for the same reason: the breaker may be
		// releasing it. It has sent a token and not yet updated the record. This write makes
		// that update conflict, so the delivery stays parked.
		return settlement.Step{Do: settlement.Settle, Decision: settlement.Unattempted(hook.StateParked, v.Reason, now)}, nil
	case gate.Cancel:
		return settlement.Step{Do: settlement.Settle, Decision: settlement.Unattempted(hook.StateCancelled, v.Reason, now)}, nil
	case gate.Move:
		token := settlement.SameToken(s.Token)
		token.Reserved, token.Slot, token.Probe = s.Token.Reserved || v.Reserved, s.Token.Slot, v.Probe
		return settlement.Step{Do: settlement.Send, Sending: &settlement.Sending{Token: token, Lane: v.Lane, At: v.Until}}, nil
	case gate.Busy:
		return settlement.Step{}, errOtherToken
	case gate.Admit:
		return settlement.Step{Do: settlement.Attempt}, nil
	}
	return settlement.Step{}, fmt.Errorf("unknown decision %d of the gate for delivery %s", v.Decision, s.Token.Delivery)
}

// leaseOf returns the lease to hand over once the verdict is applied. A moved token keeps its
// claim, and the token of a busy delivery comes again.
func leaseOf(t hook.Token, v gate.Verdict) isolation.Held {
	switch v.Decision {
	case gate.Admit:
		if v.Lease.Key != "" {
			return v.Lease
		}
		return claimOf(t) // a probe needs no slot: the circuit opened after the claim
	case gate.Park, gate.Cancel:
		return claimOf(t)
	case gate.Move, gate.Busy:
	}
	return isolation.Held{}
}

// together reports whether the job's event is sent in one request with others.
func (g *group) together(j *job) bool {
	return j.step.Do == settlement.Attempt && j.err == nil && g.Endpoint.Coalesce.On()
}

// attempts reports whether the jobs of the unit are attempted.
func attempts(unit []*job) bool { return unit[0].step.Do == settlement.Attempt }

// units returns the jobs in the units in which they take their steps: all jobs of one request
// of a coalescing endpoint, or one job.
func (g *group) units() [][]*job {
	var (
		units = make([][]*job, 0, len(g.jobs))
		one   []*job // request
	)
	for i, j := range g.jobs {
		if g.together(j) {
			one = append(one, j)
		} else {
			units = append(units, g.jobs[i:i+1])
		}
	}
	if len(one) > 0 {
		units = append(units, one)
	}
	return units
}
