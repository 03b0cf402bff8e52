package deliver

import (
	"context"
	"sync/atomic"
	"time"

	"surehook.example/surehook/internal/rule/admission"
)

// watch starts watching for late attempts of a group. They only count for a fast endpoint in a
// lane of batches.
func (d *Deliverer) watch(ctx context.Context, g *group) *lateWatch {
	return watchLate(d.AfterFunc, func(late int) {
		if g.Lane.Single() || g.Record.SpeedAtNow(d.Now()) != admission.Fast {
			return
		}
		if late = d.credits.forgive(g.Record.Endpoint, late, d.Now()); late == 0 {
			return
		}
		d.logFailed(ctx, "gate.late_failed", g.Record.Endpoint, d.Gate.Late(ctx, g.Record.Tenant, g.Record.Endpoint, late))
	})
}

// learnSpeed ends the watch, and credits the endpoint with its answers in time.
func (d *Deliverer) learnSpeed(g *group, watch *lateWatch, requests []admission.Result) {
	watch.end(requests)
	if !g.Lane.Single() {
		d.credits.earn(g.Record.Endpoint, inTime(requests), d.Now())
	}
}

// lateWatch watches for late attempts at one endpoint in one batch.
type lateWatch struct {
	running atomic.Int32
	report  func(late int)
	stop    func() bool
	fired   chan struct{}
}

// AfterFunc calls f in a goroutine after d, unless stop is called before. stop reports whether
// it prevented the call.
type AfterFunc func(d time.Duration, f func()) (stop func() bool)

// realTimer is AfterFunc by the real clock.
func realTimer(d time.Duration, f func()) (stop func() bool) { return time.AfterFunc(d, f).Stop }

// watchLate reports how many attempts are still in flight admission.LateAfter after the start. A
// slow endpoint must be found while its attempts are in flight, because the invocation lasts as
// long as the slowest of them. The caller forgives a few late ones by credit.
func watchLate(after AfterFunc, report func(late int)) *lateWatch {
	if after == nil {
		after = realTimer
	}
	w := &lateWatch{report: report, fired: make(chan struct{})}
	w.stop = after(admission.LateAfter, func() {
		defer close(w.fired)
		w.count(int(w.running.Load()))
	})
	return w
}

func (w *lateWatch) count(late int) {
	if late > 0 {
		w.report(late)
	}
}

// end ends the watch. If the timer has not fired, it counts late attempts by their recorded
// durations, which another clock measures.
func (w *lateWatch) end(results []admission.Result) {
	if !w.stop() {
		<-w.fired // wait for the report: the process may be frozen after the batch
		return
	}
	late := 0
	for _, r := range results {
		if r.Duration >= admission.LateAfter {
			late++
		}
	}
	w.count(late)
}

// inTime returns the number of answers in time.
func inTime(results []admission.Result) int {
	n := 0
	for _, r := range results {
		if took, ok := answerTime(r); ok && took < admission.LateAfter {
			n++
		}
	}
	return n
}
