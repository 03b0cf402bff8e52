package isolation_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"surehook/internal/delivery/send"
	"surehook/internal/hook"
)

// retryBehindNew keeps new events waiting at an endpoint, more than it takes, and looks
// when a delivery that failed once has its second attempt.
func retryBehindNew(t *testing.T, s setup) (measured string) {
	t.Helper()

	const (
		delay = 10 * time.Second // of the retry
		// A minute per attempt of ageing, and a few seconds for the attempts before.
		bound = delay + time.Minute + 5*time.Second
		each  = 100 * time.Millisecond // between two new events: the endpoint takes about 6 a second
	)
	s.run(t, func(l *lab) {
		var failed, again time.Time
		e := l.endpoint("acme", func(r send.Request) (time.Duration, int) {
			switch {
			case r.Event.Type == "order.retried" && r.Attempt == 1:
				failed = time.Now()
				return each, 503
			case r.Event.Type == "order.retried":
				again = time.Now()
			}
			return each, 200
		}, func(e *hook.Endpoint) {
			e.MaxInFlight = 1
			e.Retry = hook.RetryPolicy{Schedule: slices.Repeat([]time.Duration{delay}, 5), Jitter: hook.JitterNone}
		})
		l.post(e, "order.retried")
		done := func() (done bool) { l.setting(func() { done = !again.IsZero() }); return done }
		for begun := time.Now(); !done() && time.Since(begun) < 4*time.Minute; {
			l.post(e, "order.paid")
			time.Sleep(each)
		}
		var took time.Duration
		l.setting(func() { took = again.Sub(failed) })
		s.want(t, done() && took <= bound, "the second attempt %s after the first (made: %t); want at most %s", took, done(), bound)
		measured = "the second attempt " + seconds(took) + " after the first"
	})
	return measured
}

// poisonCost measures what an attempt that fails takes from the others of its endpoint:
// the deliveries that the endpoint would get instead.
func poisonCost(t *testing.T, s setup) (measured string) {
	t.Helper()

	const most = 1.5
	alone, _ := goodRate(t, s, 0)
	beside, failed := goodRate(t, s, 20)
	cost := (alone - beside) / failed
	s.want(t, failed > 0 && cost <= most, "%.1f/s alone, %.1f/s beside %.1f failures a second: %.2f deliveries each; want at most %.1f", alone, beside, failed, cost, most)
	return fmt.Sprintf("%.1f/s alone, %.1f/s beside %.1f failures a second: each costs %.1f deliveries", alone, beside, failed, cost)
}

// goodRate returns the good deliveries and the failed attempts a second of an endpoint
// with waiting deliveries; one in so many always fails; 0: none. No retry is due before the
// end.
func goodRate(t *testing.T, s setup, one int) (good, failed float64) {
	t.Helper()

	seconds := s.of(10, 60, 240)
	events := 25 * (60 + seconds)
	s.run(t, func(l *lab) {
		e := l.endpoint("acme", func(r send.Request) (time.Duration, int) {
			if r.Event.Type == "order.bad" {
				return 200 * time.Millisecond, 500
			}
			return 200 * time.Millisecond, 200
		}, func(e *hook.Endpoint) {
			limited(e)
			e.Retry = hook.RetryPolicy{Schedule: []time.Duration{time.Hour}, Jitter: hook.JitterNone}
		})
		for i := range events {
			if one > 0 && i%one == 0 {
				l.post(e, "order.bad")
			} else {
				l.post(e, "order.paid")
			}
		}
		time.Sleep(time.Minute) // until all are parked, and the event source has grown
		before, requests := l.delivered(e), l.requests()
		time.Sleep(time.Duration(seconds) * time.Second)
		after, all := l.delivered(e), l.requests()
		good = float64(after-before) / float64(seconds)
		failed = float64(all-requests-after+before) / float64(seconds)
	})
	return good, failed
}
