package deliver

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"surehook/internal/delivery/gate"
	"surehook/internal/names"
	"surehook/internal/rule/isolation"
)

// watch watches the attempts of a group. Only those of a fast endpoint in a lane of batches
// count.
func (d *Deliverer) watch(ctx context.Context, g *group, units [][]*job) *lateWatch {
	admitted := 0
	for _, members := range units {
		if attempts(members) {
			admitted++
		}
	}
	return watchLate(d.AfterFunc, admitted, func(late int) {
		if g.Lane.Single() || g.Record.SpeedAtNow(d.Now()) != isolation.Fast {
			return
		}
		if late = d.credits.forgive(g.ID, late, d.Now()); late == 0 {
			return
		}
		if err := d.Gate.Late(ctx, g.Tenant, g.ID, late); err != nil {
			d.Log.ErrorContext(ctx, "gate.late_failed", slog.String(names.LogEndpoint, string(g.ID)), slog.Any(names.LogError, err))
		}
	})
}

// lateWatch watches the attempts of a fast endpoint in one batch.
type lateWatch struct {
	admitted int
	running  atomic.Int32
	report   func(late int)
	stop     func() bool
	fired    chan struct{}
}

// AfterFunc calls f in a goroutine after d, unless stop is called before. stop reports
// whether the call prevented f.
type AfterFunc func(d time.Duration, f func()) (stop func() bool)

// realTimer is AfterFunc by the real clock.
func realTimer(d time.Duration, f func()) (stop func() bool) { return time.AfterFunc(d, f).Stop }

// watchLate reports, isolation.LateAfter after the begin, the number of attempts in flight:
// the endpoint may be slow. Half of the batch's attempts must be late. So an endpoint
// with a few slow answers among many does not count, and an endpoint that hangs counts
// with its first batches: the caller forgives some late attempts after many answers in
// time, because batches are often of one or two attempts. A slow endpoint is found while
// its attempts are in flight, because the invocation lasts until the slowest ends.
func watchLate(after AfterFunc, admitted int, report func(late int)) *lateWatch {
	if after == nil {
		after = realTimer
	}
	w := &lateWatch{admitted: admitted, report: report, fired: make(chan struct{})}
	w.stop = after(isolation.LateAfter, func() {
		defer close(w.fired)
		w.count(int(w.running.Load()))
	})
	return w
}

func (w *lateWatch) count(late int) {
	if late > 0 && 2*late >= w.admitted {
		w.report(late)
	}
}

// end ends the watch. Attempts may take longer by their own clock than by the timer's.
func (w *lateWatch) end(results []gate.Result) {
	if !w.stop() {
		<-w.fired // a frozen process must not hold the report back
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
