package store

import (
	"context"
	"math/rand/v2"
	"time"

	"surehook.example/surehook/internal/hook"
)

// Wait blocks for d. Wait returns an error when ctx ends first. The nil Wait
// blocks by the real clock.
type Wait func(ctx context.Context, d time.Duration) error

// The waits between two tries of a write: full jitter, uniform in [0, d) with d =
// min(10 ms x 2^(n-1), 320 ms) after try n.
const (
	firstConflictWait   = 10 * time.Millisecond
	maxConflictDoubling = 5 // 10 ms x 2^5 = 320 ms
)

// Tries is how often a change is tried. Each conflict means that another writer has succeeded, so 20
// tries tolerate 19 concurrent writers of one record. The waits between them are 2.4 s on average, and
// 4.8 s at most.
const Tries = 20

// Repeat calls write until write returns no CodeConflict, at most tries
// times (1 or more), and returns the last error. Each call of write must read
// the record again, decide, and write the decision on condition of the version
// read. Each conflict means success of another writer, so n tries tolerate
// n-1 concurrent writers. Repeat waits between two tries: at most 30 ms in
// all with 3 tries, 4.8 s with 20 tries, and half of that on average. Repeat
// stops between two tries when ctx is done.
//
// An error with CodeConflict means a conflict in every try.
func Repeat(ctx context.Context, wait Wait, tries int, write func() error) error {
	return wait.repeat(ctx, tries, write, func(c hook.Code) bool { return c == hook.CodeConflict })
}

// Persist is Repeat, but also calls write again after CodeUnavailable. It is for the
// record of an effect outside the store: without the record, the effect would happen
// twice.
func Persist(ctx context.Context, wait Wait, tries int, write func() error) error {
	return wait.repeat(ctx, tries, write, func(c hook.Code) bool { return c == hook.CodeConflict || c == hook.CodeUnavailable })
}

func (w Wait) repeat(ctx context.Context, tries int, write func() error, again func(hook.Code) bool) error {
	for try := 1; ; try++ {
		err := write()
		if err == nil || !again(hook.CodeOf(err)) || try >= tries || !w.pause(ctx, try) {
			return err
		}
	}
}

// pause waits after the try, and reports whether ctx goes on.
func (w Wait) pause(ctx context.Context, try int) bool {
	if ctx.Err() != nil {
		return false
	}
	if w == nil {
		w = RealWait
	}
	d := firstConflictWait << min(try-1, maxConflictDoubling)
	return w(ctx, time.Duration(rand.Float64()*float64(d))) == nil //nolint:gosec // jitter is no secret
}

// RealWait blocks by the real clock.
func RealWait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()

	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
