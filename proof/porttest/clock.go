package porttest

import (
	"context"
	"sync"
	"testing"
	"time"
)

const (
	pollEvery = 100 * time.Millisecond
	pollLimit = time.Minute // an emulator's scheduler checks its schedules every 10 s
)

// Clock is the clock of an implementation.
type Clock struct {
	Now func() time.Time
	// Pass returns when d is over or ctx ends.
	Pass func(ctx context.Context, d time.Duration)
}

// RealClock returns a clock with real waits; now is time.Now.
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

// FakeClock returns a clock advanced only by Pass.
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

// await collects the results of receive until the number is n, and fails the test
// after pollLimit.
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
