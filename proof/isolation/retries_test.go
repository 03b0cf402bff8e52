package isolation_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
)

// retryBehindNew keeps more new events waiting than the endpoint can take, and measures when a
// delivery that failed once gets its second attempt.
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

// poisonCost measures what a failing attempt takes from the other deliveries of its endpoint: the
// deliveries that the endpoint would get instead.
func poisonCost(t *testing.T, s setup) (measured string) {
	t.Helper()

	// No retry is due before the end.
	later := hook.RetryPolicy{Schedule: []time.Duration{time.Hour}, Jitter: hook.JitterNone}
	alone := goodRate(t, s, 0, later)
	beside := goodRate(t, s, 20, later)
	cost := beside.cost(t, s, alone)
	return fmt.Sprintf("%.1f/s alone, %.1f/s beside %.1f failures a second: each costs %.1f deliveries", alone.good, beside.good, beside.failed, cost)
}

// poisonRetries measures the same with retries of the standard policy: they gather among
// the oldest waiting deliveries.
func poisonRetries(t *testing.T, s setup) (measured string) {
	t.Helper()

	standard := hook.RetryPolicy{Preset: "standard"}
	alone := goodRate(t, s, 0, standard)
	measured = fmt.Sprintf("%.1f/s alone", alone.good)
	for _, one := range []int{20, 10, 5} {
		beside := goodRate(t, s, one, standard)
		s.want(t, beside.changes == 0, "1 in %d: the circuit changed %d times; want never", one, beside.changes)
		beside.cost(t, s, alone)
		measured += fmt.Sprintf(", %.1f/s beside %.1f failures a second with 1 in %d", beside.good, beside.failed, one)
	}
	return measured
}

// rate is what an endpoint with waiting deliveries gets.
type rate struct {
	good, failed float64 // a second
	changes      int64   // of the circuit
}

// cost returns the good deliveries that a failed attempt takes, and fails above a bound.
func (r rate) cost(t *testing.T, s setup, alone rate) (each float64) {
	t.Helper()

	const most = 1.5
	each = (alone.good - r.good) / r.failed
	s.want(t, r.failed > 0 && each <= most, "%.1f/s alone, %.1f/s beside %.1f failures a second: %.2f deliveries each; want at most %.1f",
		alone.good, r.good, r.failed, each, most)
	return each
}

// goodRate returns the rate of an endpoint with waiting deliveries, posted within a minute. One
// in so many is of a type that always fails; 0: none.
func goodRate(t *testing.T, s setup, one int, retries hook.RetryPolicy) (r rate) {
	t.Helper()

	seconds := s.of(10, 120, 240)
	events := 25 * (60 + seconds)
	s.run(t, func(l *lab) {
		e := l.endpoint("acme", func(r send.Request) (time.Duration, int) {
			if r.Event.Type == "order.bad" {
				return 200 * time.Millisecond, 500
			}
			return 200 * time.Millisecond, 200
		}, func(e *hook.Endpoint) {
			limited(e)
			e.Retry = retries
		})
		dice := rand.New(rand.NewPCG(1, uint64(one)))
		begin := time.Now()
		for i := range events {
			time.Sleep(time.Until(begin.Add(time.Duration(i) * time.Minute / time.Duration(events))))
			if one > 0 && dice.IntN(one) == 0 {
				l.post(e, "order.bad")
			} else {
				l.post(e, "order.paid")
			}
		}
		time.Sleep(10 * time.Second) // until all are parked
		before, requests := l.delivered(e), l.requests()
		time.Sleep(time.Duration(seconds) * time.Second)
		after, all := l.delivered(e), l.requests()
		r.good = float64(after-before) / float64(seconds)
		r.failed = float64(all-requests-after+before) / float64(seconds)
		r.changes = l.record(e).Generation
	})
	return r
}
