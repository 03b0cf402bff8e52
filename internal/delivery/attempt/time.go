package attempt

import (
	"context"
	"errors"
	"time"
)

// settleReserve is the part of the invocation's time that is kept for settling after the
// attempt.
const settleReserve = 5 * time.Second

// ErrNoTime fails a message whose attempt might outlast the invocation, so that another
// invocation makes it.
var ErrNoTime = errors.New("too little time is left in this invocation")

// HasTime reports whether the invocation has time for an attempt of the duration and for
// settling.
func HasTime(ctx context.Context, now time.Time, attempt time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return !ok || deadline.Sub(now) >= attempt+settleReserve
}
