package isolation_test

import (
	"fmt"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
)

// many creates endpoints of 50 tenants that answer 503 as long as down, and posts events
// to each.
func many(l *lab, endpoints, events int, down *bool) (all []hook.Endpoint) {
	for i := range endpoints {
		e := l.endpoint(hook.TenantID(fmt.Sprintf("tenant-%d", i%50)), func(send.Request) (time.Duration, int) {
			if *down {
				return healthyAfter, 503
			}
			return healthyAfter, 200
		}, func(e *hook.Endpoint) { e.Circuit.Failures = 1 })
		all = append(all, e)
		for range events {
			l.post(e, "order.paid")
		}
	}
	return all
}

// massOutage opens the circuits of many endpoints at once, and waits for their probes.
func massOutage(t *testing.T, s setup) (measured string) {
	t.Helper()

	endpoints := s.of(100, 1000, 5000)
	s.run(t, func(l *lab) {
		down := true
		all := many(l, endpoints, 1, &down)
		l.until(time.Hour, func() bool { return l.requests() >= endpoints })
		time.Sleep(2 * time.Minute)
		probed, last := 0, time.Duration(0)
		for _, e := range all {
			if got := l.at(e).arrivals; len(got) >= 2 {
				probed++
				last = max(last, got[1].Sub(got[0]))
			}
		}
		s.want(t, probed == endpoints && last <= 2*time.Minute,
			"%d of %d endpoints were probed, the last after %s; want all within two minutes", probed, endpoints, last)
		measured = fmt.Sprintf("%d endpoints, the last probe %s after the failure", endpoints, seconds(last))
	})
	return measured
}

// leastDrain is the least rate of deliveries in the row "mass drain", per second: a
// delivery in a slot takes about 0.2 s in the model, and the queues of slots have 200
// functions. After 20 answers an endpoint needs no slot.
const leastDrain = 900

// massDrain parks deliveries of many endpoints, which then answer their probes. The queues
// must be at work until 9 of 10 deliveries are made: with the fewer endpoints of every
// run, the event sources still grow when all is delivered.
func massDrain(t *testing.T, s setup) (measured string) {
	t.Helper()

	endpoints, events := s.of(20, 200, 5000), s.of(20, 20, 100)
	const look = 100 * time.Millisecond
	s.run(t, func(l *lab) {
		down := true
		all := many(l, endpoints, events, &down)
		l.untilBy(look, time.Hour, func() bool { return l.openCircuits(all) == endpoints })
		l.setting(func() { down = false })
		l.untilBy(look, time.Hour, func() bool { return l.deliveredAll(all) >= endpoints })
		before := l.deliveredAll(all)
		took := l.untilBy(look, time.Hour, func() bool { return l.deliveredAll(all) >= endpoints*events*9/10 })
		rest := took + l.untilBy(look, time.Hour, func() bool { return l.deliveredAll(all) == endpoints*events })
		rate := float64(endpoints*events*9/10-before) / took.Seconds()
		s.want(t, l.deliveredAll(all) == endpoints*events && rest <= 3*time.Minute,
			"%d of %d delivered %s after the probes; want all within 3 minutes", l.deliveredAll(all), endpoints*events, rest)
		s.want(t, !s.full || rate >= leastDrain, "%.0f deliveries a second; want at least %d", rate, leastDrain)
		measured = fmt.Sprintf("%d endpoints with %d each: %.0f/s, all %s after the probes", endpoints, events, rate, seconds(rest))
	})
	return measured
}

func (l *lab) openCircuits(all []hook.Endpoint) (n int) {
	for _, e := range all {
		if l.record(e).State == circuit.Open {
			n++
		}
	}
	return n
}
