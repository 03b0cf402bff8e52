package deliver

import (
	"cmp"
	"context"
	"slices"

	"surehook/internal/delivery/attempt"
	"surehook/internal/delivery/gate"
	"surehook/internal/delivery/parallel"
	"surehook/internal/hook"
)

// settleTogether limits the members of a batch that are settled at the same time.
const settleTogether = 20

// groupsOf returns the due jobs of one endpoint, cut into the groups about which the gate
// decides. A coalescing endpoint gets a request for each group of the lane coalesce, also
// with an open circuit: the circuit may close before the gate decides. All other jobs are
// one group.
func groupsOf(jobs []*job) [][]*job {
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
// request with several events, and only an answer to one event can reject it.
func alone(e *hook.Endpoint, d *hook.Delivery) bool {
	return d.Last.Batch.Several() && e.ResultOf(&d.Last) == hook.ResultRejected
}

// attemptTogether makes one request for the jobs, and settles each job by itself. The job
// with the lease leads: its result is the result of the request for circuit, counts and
// speed, and its record holds the members.
//
// After a crash, each token returns that was not settled. The returned tokens make a
// request of their own, perhaps with other members: the receiver recognises the events.
func (d *Deliverer) attemptTogether(ctx context.Context, jobs []*job, open attempt.Opener, own *results) {
	leader := jobs[max(0, slices.IndexFunc(jobs, func(j *job) bool { return j.lease.Key != "" }))]
	members := make([]*subject, len(jobs))
	for i, j := range jobs {
		members[i] = &j.subject
	}
	batch, content := attempt.Document(members, &leader.subject)
	var made *attempt.Attempt
	err := recoverPanic(func() (err error) {
		made, err = d.Attempts.Make(ctx, &leader.subject, content, open)
		return err //nolint:wrapcheck // the line of the message names it
	})
	if err != nil {
		failAll(jobs, err)
		return
	}
	parallel.Each(len(jobs), settleTogether, func(i int) error {
		j := jobs[i]
		own.run(j, func() (r gate.Result, err error) {
			one := *made
			one.Outcome.Batch = batch.Of(j.Token.Delivery.DeliveryID)
			j.result, err = d.settleAttempt(ctx, &j.subject, &one)
			return j.result, err
		})
		return nil // each job holds its own error
	})
}
