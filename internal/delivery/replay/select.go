package replay

import (
	"cmp"
	"context"
	"slices"
	"time"

	"surehook.example/surehook/internal/hook"
)

const (
	// maxAnswerTime limits the time of an analysis or a dry run, whose result is then
	// incomplete. An API gateway waits 30 s.
	maxAnswerTime = 20 * time.Second
	// answerReserve is the part of the invocation's time that is kept for the response.
	answerReserve = 3 * time.Second
)

// answerDeadline returns the time at which an analysis or a dry run must stop
// reading: maxAnswerTime from now, or answerReserve before the deadline of ctx.
func (r *Replayer) answerDeadline(ctx context.Context) time.Time {
	end := r.Now().Add(maxAnswerTime)
	if deadline, ok := ctx.Deadline(); ok && deadline.Add(-answerReserve).Before(end) {
		return deadline.Add(-answerReserve)
	}
	return end
}

// scan calls yield for the deliveries of the selection, the oldest first, until yield returns
// false. complete is false if the time end came first.
func (r *Replayer) scan(ctx context.Context, s Selection, end time.Time, yield func(hook.Delivery) (more bool)) (complete bool, err error) {
	for {
		if !r.Now().Before(end) {
			return false, nil
		}
		page, next, err := r.Store.Select(ctx, s)
		if err != nil {
			return false, err
		}
		for _, d := range page {
			if !yield(d) {
				return true, nil
			}
		}
		if next == "" {
			return true, nil
		}
		s.After = next
	}
}

// selectNext selects the next deliveries, at most limit, endpoint by endpoint in the order of their
// ids, and moves the position of the job past each page that was read. It skips deleted endpoints,
// and stops early if the invocation has too little time left.
func (w *jobRun) selectNext(ctx context.Context, j *Job, limit int) (page []hook.Delivery, err error) {
	if w.endpoints == nil {
		if w.endpoints, err = w.endpointsOf(ctx, j); err != nil {
			return nil, err
		}
	}
	read := w.deliveriesOf
	if j.Filter.AddTo != "" {
		read = w.eventsOf
	}
	for first := true; j.Selects && len(page) < limit && (first || !w.outOfTime(ctx)); first = false {
		i, found := slices.BinarySearchFunc(w.endpoints, j.Endpoint, func(t hook.Target, id hook.EndpointID) int {
			return cmp.Compare(t.Endpoint, id)
		})
		if i == len(w.endpoints) {
			j.Selects = false
			break
		}
		if !found {
			j.Endpoint, j.Cursor = w.endpoints[i].Endpoint, ""
		}
		selected, next, err := read(ctx, j, w.endpoints[i], limit-len(page))
		if err != nil {
			return nil, err
		}
		for _, d := range selected {
			if !slices.ContainsFunc(page, func(other hook.Delivery) bool { return other.Ref() == d.Ref() }) { // see eventsOf
				page = append(page, d)
			}
		}
		switch j.Cursor = next; {
		case next != "":
		case i+1 == len(w.endpoints):
			j.Selects = false
		default:
			j.Endpoint = w.endpoints[i+1].Endpoint
		}
	}
	return page, nil
}

// deliveriesOf returns the deliveries at the position of the job that the filter selects.
func (w *jobRun) deliveriesOf(ctx context.Context, j *Job, target hook.Target, limit int) ([]hook.Delivery, string, error) {
	s := j.Filter.selection(target)
	s.After = j.Cursor
	if j.Filter.indexed() {
		s.Limit = limit
	}
	for {
		read, next, err := w.Store.Select(ctx, s)
		// Only if two clocks differ does the selection contain replays of this job.
		selected := slices.DeleteFunc(read, func(d hook.Delivery) bool { return !j.Filter.matches(d) || d.Job == j.ID })
		if err != nil || len(selected) <= limit {
			return selected, next, err
		}
		s.Limit = limit // more than there is room for: the next page begins behind all that was read
	}
}
