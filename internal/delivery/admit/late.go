package admit

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

// Late counts n late attempts of a fast endpoint, which may still be in flight. With MaxLate of
// them in one minute the endpoint becomes slow.
func (g *Gate) Late(ctx context.Context, tenant hook.TenantID, id hook.EndpointID, n int) error {
	late, err := g.updateLimits(ctx, id, func(before admission.Limits) admission.Limits { return before.CountLate(n, g.Now()) })
	if err != nil || late.Late < admission.MaxLate {
		return err
	}
	record, err := g.Store.Circuit(ctx, tenant, id)
	if err == nil {
		_, _, err = g.updateCircuit(ctx, record, func(r admission.Record) admission.Record { return r.Slowed(g.Now()) })
	}
	return err
}

// Watch makes a request of tasks that may start, and watches whether it is late. What comes before and after
// it, such as slow writes, says nothing about the endpoint.
func (p *Permits) Watch(request func()) {
	p.late.begin()
	defer p.late.running.Add(-1)
	request()
}

// watch returns a watch for late attempts. They only count for a fast endpoint outside of the queues slot and
// overflow, and if its answers in time do not forgive them.
func (g *Gate) watch(ctx context.Context, p *Permits) *lateWatch {
	return &lateWatch{after: g.AfterFunc, fired: make(chan struct{}), report: func(late int) error {
		if p.Query.Queue.Single() || p.Query.Record.SpeedAtNow(g.Now()) != admission.Fast {
			return nil
		}
		if late = g.credits.forgive(p.Query.Record.Endpoint, late, g.Now()); late == 0 {
			return nil
		}
		return g.Late(ctx, p.Query.Record.Tenant, p.Query.Record.Endpoint, late)
	}}
}

// endWatch ends the watch for late attempts, and credits the endpoint with its answers in time. Each
// request counts once.
func (g *Gate) endWatch(p *Permits, attempts []admission.Result) error {
	late, inTime := 0, 0
	for _, r := range attempts {
		if r.WithLeader {
			continue
		}
		if r.Duration >= admission.LateAfter {
			late++
		}
		if took, ok := answerTime(r); ok && took < admission.LateAfter {
			inTime++
		}
	}
	err := p.late.end(late)
	if !p.Query.Queue.Single() {
		g.credits.earn(p.Query.Record.Endpoint, inTime, g.Now())
	}
	return err
}

// answerTime returns how long the endpoint took to answer; ok is false without an answer.
// Failures to connect say nothing about its speed.
func answerTime(r admission.Result) (took time.Duration, ok bool) {
	switch {
	case !r.Class.Timed():
		return 0, false
	case r.Class == hook.ClassTimeout:
		return max(r.Duration, admission.LateAfter), true
	}
	return r.Duration, true
}

// lateWatch reports how many attempts are still in flight admission.LateAfter after the first has
// begun. A slow endpoint must be found while its attempts are in flight, because the invocation lasts
// as long as the slowest of them.
type lateWatch struct {
	after   AfterFunc
	report  func(late int) error
	begun   sync.Once
	running atomic.Int32
	stop    func() bool // nil: no attempt has begun
	fired   chan struct{}
	err     error // of the report
}

// AfterFunc calls f in a goroutine after d, unless stop is called before. stop reports whether
// it prevented the call.
type AfterFunc func(d time.Duration, f func()) (stop func() bool)

// realTimer is AfterFunc by the real clock.
func realTimer(d time.Duration, f func()) (stop func() bool) { return time.AfterFunc(d, f).Stop }

func (w *lateWatch) begin() {
	w.begun.Do(func() {
		after := w.after
		if after == nil {
			after = realTimer
		}
		w.stop = after(admission.LateAfter, func() {
			defer close(w.fired)
			w.count(int(w.running.Load()))
		})
	})
	w.running.Add(1)
}

func (w *lateWatch) count(late int) {
	if late > 0 {
		w.err = w.report(late)
	}
}

// end ends the watch. If the timer has not fired, late attempts are counted by their recorded
// durations, which another clock measures.
func (w *lateWatch) end(late int) error {
	switch {
	case w.stop == nil:
	case w.stop():
		w.count(late)
	default:
		<-w.fired // wait for the report: the process may be frozen after the batch
	}
	return w.err
}
