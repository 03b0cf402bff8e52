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
		page, next, err := r.Index.Select(ctx, s)
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

// selectDeliveries selects the next deliveries, at most limit, endpoint by endpoint in the
// order of their ids, and moves the position of the job past them. It skips deleted endpoints,
// and stops early if the invocation has too little time left.
func (w *jobRun) selectDeliveries(ctx context.Context, j *Job, limit int) (page []hook.Delivery, err error) {
	err = w.walk(ctx, j, func(target hook.Target) (next string, full bool, err error) {
		s := j.Filter.selection(target)
		s.After = j.Cursor
		if j.Filter.indexed() {
			s.Limit = limit - len(page)
		}
		matching, next, err := w.matching(ctx, j, s)
		if err == nil && len(matching) > limit-len(page) { // the next page begins behind all that was read
			s.Limit = limit - len(page)
			matching, next, err = w.matching(ctx, j, s)
		}
		page = append(page, matching...)
		return next, len(page) >= limit, err
	})
	return page, err
}

// matching reads a part of the selection, and returns what the filter selects of it.
func (w *jobRun) matching(ctx context.Context, j *Job, s Selection) (matching []hook.Delivery, next string, err error) {
	selected, next, err := w.Index.Select(ctx, s)
	for _, d := range selected {
		// Only if two clocks differ does the selection contain replays of this job.
		if j.Filter.matches(d) && d.Job != j.ID {
			matching = append(matching, d)
		}
	}
	return matching, next, err
}

// walk calls read for the endpoints in the order of their ids, from the position of the job on,
// and moves the position past each page that was read. It ends when read reports a full page,
// after the last endpoint, and when the invocation has too little time left.
func (w *jobRun) walk(ctx context.Context, j *Job, read func(hook.Target) (next string, full bool, err error)) (err error) {
	if w.endpoints == nil {
		if w.endpoints, err = w.targets(ctx, j.Tenant, j.Filter.Endpoint); err != nil {
			return err
		}
		if j.Filter.AddTo != "" && j.Filter.Endpoint == "" {
			w.endpoints = append(w.endpoints, hook.Target{Endpoint: untargeted})
		}
	}
	for first := true; j.Selects && (first || !w.outOfTime(ctx)); first = false {
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
		next, full, err := read(w.endpoints[i])
		if err != nil {
			return err
		}
		switch j.Cursor = next; {
		case next != "":
		case i+1 == len(w.endpoints):
			j.Selects = false
		default:
			j.Endpoint = w.endpoints[i+1].Endpoint
		}
		if full {
			break
		}
	}
	return nil
}
