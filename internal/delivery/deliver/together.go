package deliver

import (
	"context"
	"slices"

	"surehook.example/surehook/internal/delivery/attempt"
	"surehook.example/surehook/internal/delivery/gate"
	"surehook.example/surehook/internal/delivery/parallel"
	"surehook.example/surehook/internal/hook"
)

// settleTogether limits how many members of a batch are settled at the same time.
const settleTogether = 20

// attemptTogether makes one request for the jobs, and settles each job by itself. The leader is
// the job with the lease: its result stands for the request in the circuit, the counts and the
// speed, and its record lists the members.
//
// After a crash, the tokens that were not settled come again and are sent in a new request,
// perhaps with other members: the receiver recognises the events by their ids.
func (d *Deliverer) attemptTogether(ctx context.Context, jobs []*job, open attempt.Opener, own *results) {
	leader := jobs[max(0, slices.IndexFunc(jobs, func(j *job) bool { return j.lease.Key != "" }))]
	members := make([]*subject, len(jobs))
	for i, j := range jobs {
		members[i] = &j.subject
	}
	batch, content := attempt.Document(members, &leader.subject)
	var made *attempt.Attempt
	err := func() (err error) {
		defer parallel.Recover(&err)
		made, err = d.Attempts.Make(ctx, &leader.subject, content, open)
		return err
	}()
	if err != nil {
		failAll(jobs, err)
		return
	}
	parallel.Each(len(jobs), settleTogether, func(i int) error {
		j := jobs[i]
		own.run(j, func() (gate.Result, error) {
			one := *made
			one.Outcome.Batch = batch.Of(j.Token.Delivery.DeliveryID)
			if j != leader { // the record of the leader has the whole answer
				one.Outcome.Body = one.Outcome.Body[:min(len(one.Outcome.Body), hook.MaxSuccessBody)]
				one.Outcome.Headers, one.Outcome.Sent = nil, nil
			}
			return d.settleAttempt(ctx, &j.subject, &one)
		})
		return nil // each job holds its own error
	})
}
