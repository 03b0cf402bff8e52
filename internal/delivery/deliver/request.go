package deliver

import (
	"context"
	"slices"

	"surehook.example/surehook/internal/delivery/attempt"
	"surehook.example/surehook/internal/delivery/parallel"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/settlement"
)

// groupsOf splits the due jobs of one endpoint into the groups that the gate decides about. Each test
// event is a group of its own, because the gate treats it otherwise.
func groupsOf(due []*job) (groups [][]*job) {
	var others []*job
	for _, j := range due {
		if j.Task.Test() {
			groups = append(groups, []*job{j})
		} else {
			others = append(others, j)
		}
	}
	if len(others) == 0 {
		return groups
	}
	return append(groups, attempt.Together(others, subjectOf, others[0].message.Queue)...)
}

func subjectOf(j *job) *subject { return &j.subject }

// requestsOf returns the jobs of each request, and the other jobs that have not failed.
func requestsOf(jobs []*job) (requests [][]*job, rest []*job) {
	var admitted []*job
	for _, j := range jobs {
		switch {
		case j.err != nil:
		case j.step.Do == settlement.Attempt:
			admitted = append(admitted, j)
		default:
			rest = append(rest, j)
		}
	}
	return attempt.Requests(admitted, subjectOf), rest
}

// settleTogether limits how many members of a request are settled at the same time.
const settleTogether = 20

// attempt makes one request for the jobs, and settles each job by itself. The leader is the job
// with the lease, or else the first: its result stands for the request in the circuit, the counts and the speed.
//
// After a crash, the tasks that were not settled come again and are sent in a new request,
// perhaps with other members: the receiver recognises the events by their ids.
func (d *Deliverer) attempt(ctx context.Context, g *group, jobs []*job, open attempt.Opener, done *ends) {
	leader := jobs[max(0, slices.IndexFunc(jobs, func(j *job) bool { return j.verdict.Lease.Key != "" }))]
	members := make([]*subject, len(jobs))
	for i, j := range jobs {
		members[i] = &j.subject
	}
	var made []*attempt.Attempt
	err := func() (err error) {
		defer parallel.Recover(&err)
		made, err = d.Attempts.Make(ctx, members, &leader.subject, open, g.permits.Watch)
		return err
	}()
	if err != nil {
		done.fail(jobs, err)
		return
	}
	parallel.Each(len(jobs), settleTogether, func(i int) error {
		j := jobs[i]
		done.run(j, func() (admission.Result, error) { return d.writeAttempt(ctx, &j.subject, made[i]) })
		return nil // each job holds its own error
	})
}
