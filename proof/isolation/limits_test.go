package isolation_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
)

const mostInFlight = 5

func limited(e *hook.Endpoint) { e.MaxInFlight = mostInFlight }

func quickLimited(t *testing.T, s setup) (measured string) {
	t.Helper()

	const events = 100
	s.run(t, func(l *lab) {
		e := l.endpoint("acme", after(time.Millisecond), limited)
		l.postMany(e, events)
		took := l.until(time.Minute, func() bool { return l.delivered(e) == events })
		s.want(t, took <= 3*time.Second, "%d of %d delivered after %s; want all within 3 s", l.delivered(e), events, took)
		most := l.at(e).most
		s.want(t, most <= mostInFlight, "%d requests at once; want at most %d", most, mostInFlight)
		measured = fmt.Sprintf("all after %s, %d at once", seconds(took), most)
	})
	return measured
}

// limitedBacklog measures from the moment when all wait but those in flight. A minute in,
// the event source of the overflow has grown.
func limitedBacklog(t *testing.T, s setup) (measured string) {
	t.Helper()

	const best = 25.0 // a second: 5 slots, 5 answers a second each
	events := s.of(300, 2000, 10_000)
	s.run(t, func(l *lab) {
		e := l.endpoint("acme", after(200*time.Millisecond), limited)
		l.postMany(e, events)
		live := func() bool { n, _ := l.queue.Visible(t.Context(), hook.QueueLive); return n == 0 }
		l.until(time.Minute, live)
		time.Sleep(2 * time.Second)
		parking := float64(l.calls.writes.Swap(0)) / float64(events)
		l.calls.messages.Store(0)
		l.calls.reads.Store(0)
		before := l.delivered(e)
		took := l.until(20*time.Minute, func() bool { return l.delivered(e) == events })
		time.Sleep(100 * time.Millisecond) // the last write
		waiting := float64(events - before)
		rate := waiting / took.Seconds()
		writes, messages := float64(l.calls.writes.Load())/waiting, float64(l.calls.messages.Load())/waiting
		reads := float64(l.calls.reads.Load()) / waiting
		s.want(t, rate >= leastShare*best, "%d of %d delivered, %.1f/s; want at least %.1f/s", l.delivered(e), events, rate, leastShare*best)
		most := l.at(e).most
		s.want(t, most <= mostInFlight, "%d requests at once; want at most %d", most, mostInFlight)
		s.want(t, writes <= 4, "%.2f writes per delivery; want at most 4", writes)
		// The records, and for the hand-over the circuit, the limits, and the parked deliveries
		// by the index and by their keys.
		s.want(t, reads <= 5.5, "%.2f reads per delivery; want 5", reads)
		measured = fmt.Sprintf("%.1f/s, %d at once, %.1f writes and %.1f messages per delivery, after %.1f writes for parking", rate, most, writes, messages, parking)
	})
	return measured
}

// rateRaised raises the rate between two events of the old rate.
func rateRaised(t *testing.T, s setup) (measured string) {
	t.Helper()

	events := s.of(500, 2000, 2000)
	s.run(t, func(l *lab) {
		e := l.endpoint("acme", after(healthyAfter), func(e *hook.Endpoint) { e.RatePerSecond = 0.05 })
		l.postMany(e, events)
		wait := time.Duration(s.of(5, 303, 303)) * time.Second
		time.Sleep(wait)
		before := l.delivered(e)
		s.want(t, before <= 16, "%d delivered in %s; want at most 16 at 0.05/s", before, wait)
		raised := 1000.0
		l.change(e, endpoint.Fields{RatePerSecond: &raised})
		next := l.until(time.Minute, func() bool { return l.delivered(e) > before })
		all := next + l.until(2*time.Minute, func() bool { return l.delivered(e) == events })
		s.want(t, next <= 5*time.Second && all <= time.Minute,
			"the next event after %s, %d of %d after %s; want the next within 5 s and all within a minute", next, l.delivered(e), events, all)
		measured = fmt.Sprintf("the next after %s, all after %s", seconds(next), seconds(all))
	})
	return measured
}

// rateLimited has a receiver with a token bucket of ten, which is in debt for the first six seconds of the trouble.
func rateLimited(t *testing.T, s setup) (measured string) {
	t.Helper()

	const takes, gets = 10.0, 5
	minutes := s.of(3, 10, 10)
	s.run(t, func(l *lab) {
		var tokens float64
		var last time.Time // zero: no trouble yet
		var took []time.Duration
		refused := 0
		e := l.endpoint("acme", func(r send.Request) (time.Duration, int) {
			if last.IsZero() {
				return healthyAfter, 200
			}
			now := time.Now()
			tokens, last = min(takes, tokens+takes*now.Sub(last).Seconds()), now
			if tokens < 1 {
				refused++
				return healthyAfter, 429
			}
			tokens--
			took = append(took, now.Sub(r.Event.AcceptedAt))
			return healthyAfter, 200
		}, nil)
		l.prove(e)
		l.setting(func() { tokens, last = -60, time.Now() })
		before := l.delivered(e)
		n := minutes * 60 * gets
		for range n {
			l.post(e, "order.paid")
			time.Sleep(time.Second / gets)
		}
		l.until(5*time.Minute, func() bool { return l.delivered(e) == before+n })
		p95 := percentile(took, 95)
		s.want(t, l.delivered(e) == before+n && p95 <= 15*time.Second && refused <= 20,
			"%d of %d arrived, p95 %s, %d refused; want all, within 15 s, at most 20 refused", l.delivered(e)-before, n, p95, refused)
		measured = fmt.Sprintf("all, p95 %s, %d refused", seconds(p95), refused)
	})
	return measured
}

// In one process an attempt ends before the next rate slot, which is a millisecond later. No
// claim may wait for it, because the queue delays by whole seconds. An event posted right after
// the raise is behind a hundred others. A minute before, three claims got slots of the old rate.
func TestRateRaised_InOneProcess(t *testing.T) {
	t.Parallel()

	const events, inQueue, within = 100, 3, 2 * time.Second // in the queue: slots of the old rate, 20, 40 and 60 s away
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, setup{clock: true}, production())
		e := l.endpoint("acme", after(time.Millisecond), func(e *hook.Endpoint) { e.RatePerSecond = 0.05 })
		l.postMany(e, events)
		time.Sleep(5 * time.Second)
		raised := 1000.0
		l.change(e, endpoint.Fields{RatePerSecond: &raised})
		l.post(e, "order.paid")
		took := l.until(time.Minute, func() bool { return l.delivered(e) >= events+1-inQueue })
		if took > within {
			t.Errorf("%d of %d events after %s; want within %s", l.delivered(e), events+1-inQueue, took, within)
		}
		l.stop()
		time.Sleep(invocationLimit) // until the invocations have ended
	})
}

// rateBacklog measures how fast a fast endpoint with a rate gets its waiting deliveries:
// at a rate that the claims can follow, and at a rate that they cannot.
func rateBacklog(t *testing.T, s setup) (measured string) {
	t.Helper()

	const rate, faster, seconds, events = 50, 1000, 10, 3000
	s.run(t, func(l *lab) {
		e := l.endpoint("acme", after(healthyAfter), nil)
		l.prove(e)
		perSecond := func(r float64) { l.change(e, endpoint.Fields{RatePerSecond: &r}) }
		perSecond(0.05)
		l.postMany(e, events)
		time.Sleep(5 * time.Second) // until all are parked
		drained := func(r float64) float64 {
			perSecond(r)
			time.Sleep(5 * time.Second)
			before := l.delivered(e)
			time.Sleep(seconds * time.Second)
			return float64(l.delivered(e)-before) / seconds
		}
		slow, fast := drained(rate), drained(faster)
		// A delay is rounded up to whole seconds, so ten seconds may get the slots of eleven.
		s.want(t, slow >= 0.9*rate && slow <= 1.1*rate, "%.1f a second at a rate of %d; want 90 to 110 %%", slow, rate)
		s.want(t, fast >= 50, "%.1f a second at a rate of %d; want at least 50", fast, faster)
		measured = fmt.Sprintf("%.1f/s, then %.1f/s", slow, fast)
	})
	return measured
}
