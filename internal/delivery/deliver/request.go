package deliver

import (
	"cmp"
	"context"
	"slices"

	"surehook.example/surehook/internal/delivery/attempt"
	"surehook.example/surehook/internal/delivery/parallel"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/settlement"
)

// groupsOf splits the due jobs of one endpoint into the groups that the gate decides about. On
// the lane coalesce each group becomes one request, so it stays within the bounds of a request;
// it is split the same way while the circuit is open, because the circuit may close before the
// gate decides. Each test event is a group of its own, because the gate treats it otherwise. All
// other jobs are one group.
func groupsOf(jobs []*job) [][]*job {
	if i := slices.IndexFunc(jobs, func(j *job) bool { return j.Token.Test() }); i >= 0 && len(jobs) > 1 {
		return append([][]*job{{jobs[i]}}, groupsOf(slices.Concat(jobs[:i], jobs[i+1:]))...)
	}
	if len(jobs) == 0 {
		return nil
	}
	e := jobs[0].Endpoint
	if e == nil || !e.Coalesce.On() || jobs[0].message.Lane != hook.LaneCoalesce {
		return [][]*job{jobs}
	}
	slices.SortFunc(jobs, func(a, b *job) int {
		return cmp.Or(a.Event.AcceptedAt.Compare(b.Event.AcceptedAt), cmp.Compare(a.Event.ID, b.Event.ID))
	})
	var (
		groups [][]*job
		last   []*job // not full yet
		bytes  int
	)
	for _, j := range jobs {
		size := len(j.Event.Payload)
		if alone(e, j.Delivery) {
			groups = append(groups, []*job{j})
			continue
		}
		if len(last) > 0 && (len(last) == e.Coalesce.MaxEvents || bytes+size > e.Coalesce.MaxBytes) {
			groups, last, bytes = append(groups, last), nil, 0
		}
		last, bytes = append(last, j), bytes+size
	}
	if len(last) > 0 {
		groups = append(groups, last)
	}
	return groups
}

// alone reports whether the delivery needs a request of its own: the endpoint rejected a
// request with several events, and only a request with one event shows which of them it
// rejects.
func alone(e *hook.Endpoint, d *hook.Delivery) bool {
	return d.Last.Batch.Several() && e.ResultOf(&d.Last) == hook.ResultRejected
}

// requestsOf returns the jobs of each request, and the other jobs that have not failed. Only the
// jobs of a coalescing endpoint share a request.
func requestsOf(jobs []*job) (requests [][]*job, rest []*job) {
	for i, j := range jobs {
		switch {
		case j.err != nil:
		case j.step.Do != settlement.Attempt:
			rest = append(rest, j)
		case j.Endpoint.Coalesce.On() && len(requests) > 0:
			requests[0] = append(requests[0], j)
		default:
			requests = append(requests, slices.Clip(jobs[i:i+1]))
		}
	}
	return requests, rest
}

// settleTogether limits how many members of a batch are settled at the same time.
const settleTogether = 20

// attempt makes one request for the jobs, and settles each job by itself. The leader is the job
// with the lease: its result stands for the request in the circuit, the counts and the speed.
//
// After a crash, the tokens that were not settled come again and are sent in a new request,
// perhaps with other members: the receiver recognises the events by their ids.
func (d *Deliverer) attempt(ctx context.Context, jobs []*job, open attempt.Opener, own *ended) {
	leader := jobs[max(0, slices.IndexFunc(jobs, func(j *job) bool { return j.verdict.Lease.Key != "" }))]
	batch, content := documentOf(jobs, leader)
	var made *attempt.Attempt
	err := func() (err error) {
		defer parallel.Recover(&err)
		made, err = d.Attempts.Make(ctx, &leader.subject, content, open)
		return err
	}()
	if err != nil {
		own.fail(jobs, err)
		return
	}
	parallel.Each(len(jobs), settleTogether, func(i int) error {
		j := jobs[i]
		own.run(j, func() (admission.Result, error) {
			return d.settleAttempt(ctx, &j.subject, shared(made, batch, j, leader))
		})
		return nil // each job holds its own error
	})
}

// documentOf returns the content of the request: the event, or the document of the batch.
func documentOf(jobs []*job, leader *job) (*hook.Batch, *hook.Event) {
	if !leader.Endpoint.Coalesce.On() {
		return nil, leader.Event
	}
	members := make([]*subject, len(jobs))
	for i, j := range jobs {
		members[i] = &j.subject
	}
	return attempt.Document(members, &leader.subject)
}

// shared returns the attempt as the job records it: only the record of the leader lists the members,
// and has the whole answer.
func shared(made *attempt.Attempt, batch *hook.Batch, j, leader *job) *attempt.Attempt {
	if batch == nil {
		return made
	}
	one := *made
	one.Outcome.Batch = batch.Of(j.Token.Delivery.DeliveryID)
	if j != leader {
		one.Outcome.Body = one.Outcome.Body[:min(len(one.Outcome.Body), hook.MaxSuccessBody)]
		one.Outcome.Headers, one.Outcome.Sent = nil, nil
	}
	return &one
}
