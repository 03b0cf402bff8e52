package deliver

import (
	"cmp"
	"slices"

	"surehook.example/surehook/internal/hook"
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
