package porttest

import (
	"context"
	"sync"
	"testing"
	"time"
)

const (
	pollEvery = 100 * time.Millisecond
	pollLimit = time.Minute // an emulator's scheduler looks at its schedules every 10 s
)

// Clock is the time that an implementation lives in.
type Clock struct {
	Now func() time.Time
	// Pass lets d go by, or returns when ctx ends.
	Pass func(ctx context.Context, d time.Duration)
}

// RealClock returns a clock that waits; now is time.Now.
func RealClock(now func() time.Time) Clock {
	return Clock{Now: now, Pass: func(ctx context.Context, d time.Duration) {
		timer := time.NewTimer(d)
		defer timer.Stop()

		select {
		case <-ctx.Done():
		case <-timer.C:
		}
	}}
}

// FakeClock returns a clock that goes on only when it is told to.
func FakeClock() Clock {
	var mu sync.Mutex
	at := time.Date(2026, time.January, 2, 3, 4, 5, 678e6, time.UTC)
	return Clock{
		Now: func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return at
		},
		Pass: func(_ context.Context, d time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			at = at.Add(d)
		},
	}
}

// await collects what receive returns until there are n, and ends the test if
// that takes longer than pollLimit.
func await[T any](t *testing.T, c Clock, n int, receive func(ctx context.Context) ([]T, error)) []T {
	t.Helper()

	var got []T
	deadline := c.Now().Add(pollLimit)
	for {
		more, err := receive(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, more...); len(got) >= n {
			return got
		}
		if c.Now().After(deadline) {
			t.Fatalf("%d received in %s; want %d", len(got), pollLimit, n)
		}
		c.Pass(t.Context(), pollEvery)
	}
}
