package isolation_test

import (
	"fmt"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
)

// keysPerSecond is the posts to each ordered endpoint.
const keysPerSecond = 100

// blockedKey compares the other keys of an endpoint with and without one that a dead delivery blocks.
func blockedKey(t *testing.T, s setup) string {
	t.Helper()

	keys := s.of(100, 1000, 10_000)
	alone, beside := otherKeys(t, s, keys, false), otherKeys(t, s, keys, true)
	s.want(t, len(alone) == len(beside), "%d arrived beside the blocked key, and %d without; want as many", len(beside), len(alone))
	p99, worse := percentile(alone, 99), percentile(beside, 99)
	s.want(t, p99 > 0 && worse <= 2*p99, "p99 %s beside the blocked key, and %s without; want at most twice as long", worse, p99)
	return fmt.Sprintf("p99 %s without, %s beside", millis(p99), millis(worse))
}

// otherKeys returns the latencies of the events of all keys but the first, each with one event. If blocked,
// the receiver refuses the first event of the first key, and then a tenth of the posts are for it.
func otherKeys(t *testing.T, s setup, keys int, blocked bool) (latencies []time.Duration) {
	t.Helper()

	s.run(t, func(l *lab) {
		e := l.endpoint("acme", func(r send.Request) (time.Duration, int) {
			if r.Event.Ordering != nil && r.Event.Ordering.Key == "blocked" {
				return healthyAfter, 400
			}
			return healthyAfter, 200
		}, ordered("order.paid"))
		l.prove(e)
		if blocked {
			l.postInOrder(e, "blocked")
			time.Sleep(time.Second)
		}
		before := len(l.at(e).latency)
		l.everySecond(keysPerSecond, keys, func(i int) {
			if blocked && i%10 == 0 {
				l.postInOrder(e, "blocked")
			}
			l.postInOrder(e, fmt.Sprintf("cart-%d", i))
		})
		time.Sleep(time.Minute)
		latencies = l.at(e).latency[before:]
	})
	return latencies
}

// waitingKey compares the other keys of an endpoint, and another endpoint of the tenant, with and without a key
// in which events wait.
func waitingKey(t *testing.T, s setup) string {
	t.Helper()

	aloneKeys, aloneOther, _ := besideWaiting(t, s, 0)
	waiting := s.of(50, 1000, 1000)
	keys, other, took := besideWaiting(t, s, waiting)
	for _, m := range []struct {
		what          string
		beside, alone []time.Duration
	}{{"the other keys", keys, aloneKeys}, {"the other endpoint", other, aloneOther}} {
		p99, worse := percentile(m.alone, 99), percentile(m.beside, 99)
		s.want(t, len(m.alone) == len(m.beside) && p99 > 0 && worse <= 2*p99, "%s: p99 %s of %d beside the waiting events, and %s of %d without; want at most twice as long",
			m.what, worse, len(m.beside), p99, len(m.alone))
	}
	return fmt.Sprintf("other keys p99 %s without, %s beside; other endpoint %s, %s; the key does %.1f/s",
		millis(percentile(aloneKeys, 99)), millis(percentile(keys, 99)), millis(percentile(aloneOther, 99)), millis(percentile(other, 99)), float64(waiting)/took.Seconds())
}

// besideWaiting returns the latencies of 30 s of events of other keys, and of another endpoint, and how long a key with
// waiting events took for all of them.
func besideWaiting(t *testing.T, s setup, waiting int) (keys, other []time.Duration, took time.Duration) {
	t.Helper()

	s.run(t, func(l *lab) {
		e, beside := l.endpoint("acme", after(healthyAfter), ordered("order.paid")), l.endpoint("acme", after(healthyAfter), ordered("invoice.paid"))
		l.prove(e)
		l.prove(beside)
		for range waiting {
			l.postInOrder(e, "busy")
		}
		begun := time.Now()
		l.setting(func() { clear(l.all[e.ID].accepted) }) // what waits has no latency
		before, beforeOther := len(l.at(e).latency), len(l.at(beside).latency)
		l.everySecond(keysPerSecond, 30*keysPerSecond, func(i int) {
			l.postInOrder(e, fmt.Sprintf("cart-%d", i))
			l.postInOrder(beside, fmt.Sprintf("cart-%d", i))
		})
		delivered := 30 + waiting + 30*keysPerSecond
		l.untilBy(time.Second, 15*time.Minute, func() bool { return l.delivered(e) >= delivered })
		took = time.Since(begun)
		s.want(t, l.delivered(e) == delivered, "%d of %d delivered", l.delivered(e), delivered)
		keys, other = l.at(e).latency[before:], l.at(beside).latency[beforeOther:]
	})
	return keys, other, took
}

// ordered makes an endpoint ordered, with the one event type.
func ordered(eventType string) func(e *hook.Endpoint) {
	return func(e *hook.Endpoint) { e.Ordered, e.EventTypes = true, []string{eventType} }
}

// everySecond calls f for 0 to n-1, at the rate.
func (l *lab) everySecond(rate, n int, f func(i int)) {
	begin := time.Now()
	for i := range n {
		time.Sleep(time.Until(begin.Add(time.Duration(i) * time.Second / time.Duration(rate))))
		f(i)
	}
}

// postInOrder accepts an event with the ordering key, as function ingest.
func (l *lab) postInOrder(e hook.Endpoint, key string) {
	l.t.Helper()

	got := l.acceptor.AcceptBatch(l.t.Context(), e.Tenant, []ingest.Request{{Type: e.EventTypes[0], Payload: []byte("1"), OrderingKey: key}})
	if got[0].Err != nil {
		l.t.Error(got[0].Err)
	}
	l.accept(e.ID, got[0].ID, time.Now())
}
