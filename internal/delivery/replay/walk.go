package replay

import (
	"context"
	"fmt"
	"time"

	"surehook/internal/hook"
)

const (
	// lookTime is how long a question may take to answer, before it is answered
	// with what was seen so far: an API gateway waits 30 s.
	lookTime = 20 * time.Second
	// lookReserve is what an answer must leave of the invocation's time.
	lookReserve = 3 * time.Second
)

// lookUntil returns when a question that is asked now has to be answered.
func (r *Replayer) lookUntil(ctx context.Context) time.Time {
	end := r.Now().Add(lookTime)
	if deadline, ok := ctx.Deadline(); ok && deadline.Add(-lookReserve).Before(end) {
		return deadline.Add(-lookReserve)
	}
	return end
}

// walk yields the selection, the oldest first, until yield has enough. complete
// is false when the time was over before.
func (r *Replayer) walk(ctx context.Context, s Selection, end time.Time, yield func(hook.Delivery) (more bool)) (complete bool, err error) {
	for {
		if !r.Now().Before(end) {
			return false, nil
		}
		page, next, err := r.Index.Select(ctx, s)
		if err != nil {
			return false, fmt.Errorf("select %s deliveries of endpoint %s: %w", s.State, s.Endpoint, err)
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
