package isolation_test

import (
	"fmt"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
)

const (
	slowEndpoints  = 500
	slowDeliveries = 3000
	slowAnswer     = 25 * time.Second
)

// flood posts slowDeliveries events to slow endpoints of one tenant, at once.
func flood(l *lab) {
	var slow []hook.Endpoint
	for range slowEndpoints {
		slow = append(slow, l.endpoint("slow", after(slowAnswer), func(e *hook.Endpoint) { e.Timeout = 30 * time.Second }))
	}
	for i := range slowDeliveries {
		l.post(slow[i%slowEndpoints], "order.paid")
	}
}

// slowTenant posts an event of another tenant every second, each to a new endpoint. The
// event sources have grown before: all functions begin with the slow answers at the same
// time, so none is free for a while. While they grow, a fair queue alone is enough.
func slowTenant(t *testing.T, s setup) (measured string) {
	t.Helper()

	s.run(t, func(l *lab) {
		for _, source := range l.sources {
			source.grow()
		}
		flood(l)
		var worst time.Duration
		events := s.of(10, 120, 120)
		for range events {
			other := l.endpoint("other", after(healthyAfter), nil)
			l.post(other, "order.paid")
			time.Sleep(time.Second)
			l.until(time.Minute, func() bool { return len(l.at(other).latency) == 1 })
			worst = max(worst, percentile(l.at(other).latency, 100))
		}
		s.want(t, worst > 0 && worst <= 2*time.Second, "the slowest event of the other tenant arrived after %s; want at most 2 s", worst)
		measured = fmt.Sprintf("the slowest of %d arrived after %s", events, millis(worst))
	})
	return measured
}

// slowAlone measures the use of the slots from the third minute on, when the event
// sources have grown, for two minutes. The queue overflow alone has 180 of 200 slots, so
// a millisecond between two attempts of a slot would count: a thousandth is granted.
func slowAlone(t *testing.T, s setup) (measured string) {
	t.Helper()

	s.run(t, func(l *lab) {
		flood(l)
		used := func() time.Duration {
			return l.sources[hook.QueueSlot].used() + l.sources[hook.QueueOverflow].used()
		}
		time.Sleep(2 * time.Minute)
		before := used()
		time.Sleep(2 * time.Minute)
		share := float64(used()-before) / float64(200*2*time.Minute)
		s.want(t, share >= 0.899, "the tenant uses %.2f %% of the slots; want at least 90 %%", 100*share)
		measured = fmt.Sprintf("%.1f %% of 200 slots", 100*share)
	})
	return measured
}
