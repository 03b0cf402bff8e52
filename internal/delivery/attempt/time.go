package attempt

import (
	"context"
	"errors"
	"time"
)

// settleReserve is the part of the invocation's time kept for settling after the
// attempt.
const settleReserve = 5 * time.Second

// ErrNoTime fails a message whose attempt would outlast the invocation: another invocation
// makes it.
var ErrNoTime = errors.New("too little time is left in this invocation")

// HasTime reports whether the invocation has the time for an attempt and the settling.
func HasTime(ctx context.Context, now time.Time, attempt time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return !ok || deadline.Sub(now) >= attempt+settleReserve
}
