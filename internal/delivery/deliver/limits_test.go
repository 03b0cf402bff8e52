package deliver_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"surehook/internal/hook"
)

// A thousand simultaneous events reach an endpoint at the configured rate, and each
// token but the first is delayed once.
func TestRateLimit_PacesAFlood(t *testing.T) {
	t.Parallel()

	const events, perSecond, seconds = 1000, 10, 30
	synctest.Test(t, func(t *testing.T) {
		l := newLab()
		start := time.Now()
		var mu sync.Mutex
		arrivals := make(map[int]int)
		id := l.endpoint(t, func(e *hook.Endpoint) { e.RatePerSecond = perSecond }, func() (time.Duration, int) {
			mu.Lock()
			defer mu.Unlock()

			arrivals[int(time.Since(start)/time.Second)]++
			return 50 * time.Millisecond, 200
		})
		for range events {
			l.post(t, id)
		}
		l.run(t, events/perSecond*time.Second+10*time.Second)

		for second := 1; second <= seconds; second++ { // the first slot is now; the other slots of the same second round up to the next second
			if n := arrivals[second]; n < perSecond-1 || n > perSecond+1 {
				t.Errorf("%d arrived in second %d; want %d +- 1", n, second, perSecond)
			}
		}
		if l.delays != events-1 {
			t.Errorf("tokens were sent back %d times; want once for each of %d", l.delays, events-1)
		}
	})
}

// With many concurrent functions, an endpoint never has more requests in flight than
// the limit, and receives all events in the end.
func TestMaxInFlight_Holds(t *testing.T) {
	t.Parallel()

	const events, allowed = 200, 2
	synctest.Test(t, func(t *testing.T) {
		l := newLab()
		var (
			mu                       sync.Mutex
			flying, highest, arrived int
		)
		l.leaves = func() {
			mu.Lock()
			defer mu.Unlock()
			flying--
		}
		id := l.endpoint(t, func(e *hook.Endpoint) { e.MaxInFlight = allowed }, func() (time.Duration, int) {
			mu.Lock()
			defer mu.Unlock()

			flying++
			arrived++
			highest = max(highest, flying)
			return 100 * time.Millisecond, 200
		})
		for range events {
			l.post(t, id)
		}
		l.run(t, 10*time.Minute)
		if highest != allowed || arrived != events {
			t.Errorf("%d of %d arrived, at most %d at once; want all, %d at once", arrived, events, highest, allowed)
		}
	})
}
