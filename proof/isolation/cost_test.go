package isolation_test

import (
	"fmt"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

// fastCost counts the requests for an event at a time to a fast endpoint.
func fastCost(t *testing.T, s setup) (measured string) {
	t.Helper()

	s.run(t, func(l *lab) {
		e := l.endpoint("acme", after(healthyAfter), nil)
		l.prove(e)
		reads, writes, messages := l.costOf(e, 100)
		// The delivery, and the counts of the endpoint.
		s.want(t, writes <= 2 && messages == 0, "%.2f writes and %.2f messages per delivery; want at most 2 and 0", writes, messages)
		measured = fmt.Sprintf("%.1f reads, %.1f writes, %.1f messages", reads, writes, messages)
	})
	return measured
}

// unprovenCost counts the requests for an event to an endpoint that never had one.
func unprovenCost(t *testing.T, s setup) (measured string) {
	t.Helper()

	s.run(t, func(l *lab) {
		const events = 10
		var e hook.Endpoint
		for range events {
			e = l.endpoint("acme", after(healthyAfter), nil)
			l.post(e, "order.paid")
			l.until(time.Minute, func() bool { return l.delivered(e) == 1 })
			time.Sleep(time.Second)
		}
		reads, writes, messages := l.perDelivery(events)
		s.want(t, writes <= 6 && messages <= 1, "%.2f writes and %.2f messages per delivery; want at most 6 and 1", writes, messages)
		measured = fmt.Sprintf("%.1f reads, %.1f writes, %.1f messages", reads, writes, messages)
	})
	return measured
}

// prove posts events until the endpoint is fast.
func (l *lab) prove(e hook.Endpoint) {
	l.t.Helper()

	for range 30 {
		l.post(e, "order.paid")
		time.Sleep(time.Second)
	}
	if c := l.record(e).Speed; c != admission.Fast {
		l.t.Fatalf("the endpoint is %s after 30 answers in time; want fast", c)
	}
}

// costOf returns the requests per delivery of n events, one a second.
func (l *lab) costOf(e hook.Endpoint, n int) (reads, writes, messages float64) {
	l.calls.reads.Store(0)
	l.calls.writes.Store(0)
	l.calls.messages.Store(0)
	for range n {
		l.post(e, "order.paid")
		time.Sleep(time.Second)
	}
	return l.perDelivery(n)
}

func (l *lab) perDelivery(n int) (reads, writes, messages float64) {
	of := func(total int64) float64 { return float64(total) / float64(n) }
	return of(l.calls.reads.Load()), of(l.calls.writes.Load()), of(l.calls.messages.Load())
}
