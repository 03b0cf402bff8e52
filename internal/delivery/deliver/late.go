package deliver

import (
	"context"
	"sync/atomic"
	"time"

	"surehook.example/surehook/internal/delivery/gate"
	"surehook.example/surehook/internal/rule/isolation"
)

// watch starts watching for late attempts of a group. They only count for a fast endpoint in a
// lane of batches.
func (d *Deliverer) watch(ctx context.Context, g *group) *lateWatch {
	return watchLate(d.AfterFunc, func(late int) {
		if g.Lane.Single() || g.Record.SpeedAtNow(d.Now()) != isolation.Fast {
			return
		}
		if late = d.credits.forgive(g.ID, late, d.Now()); late == 0 {
			return
		}
		d.logFailed(ctx, "gate.late_failed", g.ID, d.Gate.Late(ctx, g.Tenant, g.ID, late))
	})
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

// watchLate reports how many attempts are still in flight isolation.LateAfter after the start. A
// slow endpoint must be found while its attempts are in flight, because the invocation lasts as
// long as the slowest of them. The caller forgives a few late ones by credit.
func watchLate(after AfterFunc, report func(late int)) *lateWatch {
	if after == nil {
		after = realTimer
	}
	w := &lateWatch{report: report, fired: make(chan struct{})}
	w.stop = after(isolation.LateAfter, func() {
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
func (w *lateWatch) end(results []gate.Result) {
	if !w.stop() {
		<-w.fired // wait for the report: the process may be frozen after the batch
		return
	}
	late := 0
	for _, r := range results {
		if r.Duration >= isolation.LateAfter {
			late++
		}
	}
	w.count(late)
}

// inTime returns the number of answers in time.
func inTime(results []gate.Result) int {
	n := 0
	for _, r := range results {
		if took, ok := answerTime(r); ok && took < isolation.LateAfter {
			n++
		}
	}
	return n
}
