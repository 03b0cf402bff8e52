package attempt

import (
	"cmp"
	"slices"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/settlement"
)

// Together splits the due deliveries of one endpoint into groups that the gate decides on in one
// question. In the queue coalesce each group becomes one request, so it stays within the bounds of a request; it is
// split the same way while the circuit is open, because the circuit may close before the gate decides.
// Otherwise all are one group. of returns the subject of an element.
func Together[T any](due []T, of func(T) *settlement.Subject, queue hook.Queue) [][]T {
	if len(due) == 0 {
		return nil
	}
	e := of(due[0]).Endpoint
	if !coalesces(e) || queue != hook.QueueCoalesce {
		return [][]T{due}
	}
	slices.SortFunc(due, func(a, b T) int {
		first, second := of(a).Event, of(b).Event
		return cmp.Or(first.AcceptedAt.Compare(second.AcceptedAt), cmp.Compare(first.ID, second.ID))
	})
	var (
		groups [][]T
		last   []T // not full yet
		bytes  int
	)
	for _, one := range due {
		size := len(of(one).Event.Payload)
		if settlement.RejectedTogether(e, &of(one).Delivery.Last) { // only a request of its own shows whether it is rejected
			groups = append(groups, []T{one})
			continue
		}
		if len(last) > 0 && (len(last) == e.Coalesce.MaxEvents || bytes+size > e.Coalesce.MaxBytes) {
			groups, last, bytes = append(groups, last), nil, 0
		}
		last, bytes = append(last, one), bytes+size
	}
	if len(last) > 0 {
		groups = append(groups, last)
	}
	return groups
}

// Requests splits the admitted deliveries of a group by request: one each, or one for all of a
// coalescing endpoint.
func Requests[T any](admitted []T, of func(T) *settlement.Subject) [][]T {
	if len(admitted) > 0 && coalesces(of(admitted[0]).Endpoint) {
		return [][]T{admitted}
	}
	return slices.Collect(slices.Chunk(admitted, 1))
}

// coalesces reports whether deliveries of the endpoint share requests; a nil endpoint is a deleted one.
func coalesces(e *hook.Endpoint) bool { return e != nil && e.Coalesce.On() }

// of returns the attempt as the record of a member has it: only the record of the leader lists the
// members, and has the whole answer.
func (a *Attempt) of(batch *hook.Batch, member hook.DeliveryID) *Attempt {
	one := *a
	one.Outcome.Batch = batch.Of(member)
	if member != batch.Leader {
		one.Outcome.Body = one.Outcome.Body[:min(len(one.Outcome.Body), hook.MaxSuccessBody)]
		one.Outcome.Headers, one.Outcome.Sent = nil, nil
	}
	return &one
}
