package replay

import (
	"context"
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
