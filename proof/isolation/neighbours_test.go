package isolation_test

import (
	"fmt"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

const (
	neighbours   = 19
	perSecond    = 50                    // events, a quarter to the endpoint in trouble
	healthyAfter = 20 * time.Millisecond // the answer of a healthy endpoint
	slowAfter    = 9 * time.Second
)

// slowNeighbour compares the healthy endpoints with and without a slow one.
func slowNeighbour(t *testing.T, s setup) string {
	t.Helper()

	alone, _ := traffic(t, s, nil)
	beside, _ := traffic(t, s, func(time.Duration) time.Duration { return slowAfter })
	s.want(t, len(alone) == len(beside), "%d arrived beside the slow endpoint, and %d alone; want as many", len(beside), len(alone))
	p99, worse := percentile(took(alone, 0), 99), percentile(took(beside, 0), 99)
	s.want(t, p99 > 0 && worse <= 3*p99, "p99 %s beside the slow endpoint, and %s alone; want at most 3 times as long", worse, p99)
	return fmt.Sprintf("p99 %s alone, %s beside", millis(p99), millis(worse))
}

// turnsSlow lets the 20th endpoint answer in time for half of the traffic, and then late.
func turnsSlow(t *testing.T, s setup) string {
	t.Helper()

	turn := s.trafficFor() / 2
	all, most := traffic(t, s, func(since time.Duration) time.Duration {
		if since < turn {
			return healthyAfter
		}
		return slowAfter
	})
	later := took(all, turn)
	worst, p99 := percentile(later, 100), percentile(later, 99)
	s.want(t, worst > 0 && worst <= time.Second, "the slowest event arrived after %s; want at most 1 s", worst)
	// Five late attempts, and those that begin until the fifth is late.
	s.want(t, most <= 2*perSecond/4+admission.FirstSlots, "%d requests at once to the slow endpoint; want two seconds of its events, and %d, at most", most, admission.FirstSlots)
	return fmt.Sprintf("the slowest after %s, p99 %s, %d requests at once to the slow one", millis(worst), millis(p99), most)
}

func (s setup) trafficFor() time.Duration { return time.Duration(s.of(12, 60, 60)) * time.Second }

// arrival is the first request of an event.
type arrival struct{ accepted, took time.Duration }

// took returns the latencies of the events accepted at the time or later.
func took(all []arrival, from time.Duration) (latencies []time.Duration) {
	for _, a := range all {
		if a.accepted >= from {
			latencies = append(latencies, a.took)
		}
	}
	return latencies
}

// traffic returns the arrivals at the healthy endpoints. bad is the time that a 20th
// endpoint takes for an answer, after the time since the beginning; nil: no such endpoint.
// most is the number of its requests at once.
func traffic(t *testing.T, s setup, bad func(since time.Duration) time.Duration) (all []arrival, most int) {
	t.Helper()

	s.run(t, func(l *lab) {
		var healthy []hook.Endpoint
		for range neighbours {
			healthy = append(healthy, l.endpoint("acme", after(healthyAfter), nil))
		}
		begin := time.Now()
		var sick hook.Endpoint
		if bad != nil {
			sick = l.endpoint("acme", func(send.Request) (time.Duration, int) { return bad(time.Since(begin)), 200 }, nil)
		}
		posted := 0
		for i := range int(s.trafficFor().Seconds()) * perSecond {
			time.Sleep(time.Until(begin.Add(time.Duration(i) * time.Second / perSecond)))
			switch {
			case i%4 != 0:
				posted++
				l.post(healthy[posted%neighbours], "order.paid")
			case bad != nil:
				l.post(sick, "order.paid")
			}
		}
		l.until(time.Minute, func() bool { return l.deliveredAll(healthy) == posted })
		if bad != nil {
			most = l.at(sick).most
		}
		for _, e := range healthy {
			got := l.at(e)
			for i, took := range got.latency {
				all = append(all, arrival{got.first[i].Sub(begin) - took, took})
			}
		}
	})
	return all, most
}
