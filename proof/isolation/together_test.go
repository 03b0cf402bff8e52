package isolation_test

import (
	"sync"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
)

// TestIsolation runs seventeen good endpoints alone, and beside three bad ones: one
// answers after 9.5 s, one answers 503 always, and one receives 10,000 events at once.
// The p99 of the good endpoints may grow by half at most.
func TestIsolation(t *testing.T) {
	t.Parallel()

	alone, beside := together(t, false), together(t, true)
	p99, worse := percentile(alone, 99), percentile(beside, 99)
	t.Logf("p99 of %d events %s alone, %s beside a slow, a broken and a flooded endpoint", len(alone), p99, worse)
	if len(alone) == 0 || len(alone) != len(beside) || worse > p99*3/2 {
		t.Errorf("%d events with a p99 of %s, and %d with %s beside the bad three; want as many, and at most 1.5 times as long",
			len(alone), p99, len(beside), worse)
	}
}

// together returns the latencies of the good endpoints.
func together(t *testing.T, bad bool) (all []time.Duration) {
	t.Helper()

	const good, seconds, flood = 17, 120, 10_000
	setup{}.run(t, func(l *lab) {
		var steady []hook.Endpoint
		for i := range good {
			steady = append(steady, l.endpoint("acme", after(time.Duration(20+4*i)*time.Millisecond), nil))
		}
		healthy := steady
		var flooded hook.Endpoint
		if bad {
			steady = append(steady[:good:good], l.endpoint("acme", after(9500*time.Millisecond), nil),
				l.endpoint("acme", func(send.Request) (time.Duration, int) { return 50 * time.Millisecond, 503 }, nil))
			flooded = l.endpoint("acme", after(50*time.Millisecond), nil)
		}
		for second := range seconds {
			for i, e := range steady {
				time.Sleep(time.Second / time.Duration(len(steady)))
				if l.post(e, "order.paid"); bad && second == seconds/4 && i == 0 {
					l.postMany(flooded, flood)
				}
			}
		}
		l.until(time.Minute, func() bool { return l.deliveredAll(healthy) == good*seconds })
		for _, e := range healthy {
			all = append(all, l.at(e).latency...)
		}
	})
	return all
}

// TestRateLimit_PacesAFlood posts a thousand events at once to a fast endpoint. They
// arrive at the endpoint's rate: some after their time, and none more than half a second before.
func TestRateLimit_PacesAFlood(t *testing.T) {
	t.Parallel()

	const events, perSecond = 1000, 10
	setup{}.run(t, func(l *lab) {
		e := l.endpoint("acme", after(50*time.Millisecond), func(e *hook.Endpoint) { e.RatePerSecond = perSecond })
		began := time.Now()
		l.postMany(e, events)
		took := l.until(10*time.Minute, func() bool { return l.delivered(e) == events })
		if best := events / perSecond * time.Second; took < best-time.Second || took > best*5/4 {
			t.Errorf("%d of %d delivered after %s; want all after %s", l.delivered(e), events, took, best)
		}
		for i, at := range l.at(e).arrivals {
			if earliest := time.Duration(i)*time.Second/perSecond - time.Second/2; at.Sub(began) < earliest { // a slot so near is taken at once
				t.Errorf("arrival %d came %s after the post; want %s or more", i, at.Sub(began), earliest)
				break
			}
		}
	})
}

// TestMaxInFlight_Holds posts events from many functions at once. The endpoint never has
// more requests than the limit, and uses the limit.
func TestMaxInFlight_Holds(t *testing.T) {
	t.Parallel()

	const events, allowed = 200, 2
	setup{}.run(t, func(l *lab) {
		e := l.endpoint("acme", after(100*time.Millisecond), func(e *hook.Endpoint) { e.MaxInFlight = allowed })
		var posts sync.WaitGroup
		for range 10 {
			posts.Go(func() { l.postMany(e, events/10) })
		}
		posts.Wait()
		l.until(10*time.Minute, func() bool { return l.delivered(e) == events })
		if got := l.at(e); got.answered != events || got.most != allowed {
			t.Errorf("%d of %d delivered, at most %d at once; want all, %d at once", got.answered, events, got.most, allowed)
		}
	})
}
