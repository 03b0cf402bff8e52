package review

import (
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/condition"
	"surehook.example/surehook/internal/rule/drain"
	"surehook.example/surehook/internal/rule/stats"
)

// Flags are the decisions of the reviews so far about an endpoint. Values compare
// with ==. The zero Flags belong to an endpoint without a review.
type Flags struct {
	Slow    bool          `stored:"slow"`       // p95 over SlowOver
	Fragile bool          `stored:"fragile"`    // p95 over FragileOver: the circuit opens after fewer failures
	Timeout time.Duration `stored:"timeout_ns"` // timeout of an attempt, shorter than the endpoint's own timeout; 0: none
	Warned  int           `stored:"warned"`     // the last warning: WarnedNever, WarnedOnce or WarnedTwice

	// WarnedAt is the start of the quarter of an hour of the last warning, but not
	// before the endpoint's StatusSince; zero for WarnedNever.
	WarnedAt time.Time `stored:"warned_at"`

	// Began is when the condition failing or degraded began; zero in another condition. The hours
	// do not tell it once they are all of the condition.
	Began time.Time `stored:"began"`

	// Judged is the newest hour with attempts in that condition: a condition after a day without
	// any is another one.
	Judged time.Time `stored:"judged"`

	// AtRiskUntil is when the trouble of deliveries at risk is over, unless a review finds again that
	// the first loss is near; zero: there was none.
	AtRiskUntil time.Time `stored:"at_risk_until"`

	// Certificate names the last warning of the end of the client certificate; empty for
	// none.
	Certificate string `stored:"certificate"`
}

// Facts are the input of a review.
type Facts struct {
	Endpoint hook.Endpoint
	Flags    Flags // of the previous review
	Circuit  circuit.Circuit
	Backlog  drain.Forecast // of the waiting deliveries; zero without any, or if their pace is not known
	Hours    []stats.Hour   // at most the last 25 clock hours, in order; hours without attempts may be missing
}

// Verdict is the result of a review.
type Verdict struct {
	Flags         Flags               // to be stored for the next review
	Disable       bool                // disable the endpoint; Notifications then contains a NotificationDisabled with the reason
	Notifications []hook.Notification // for the owner; at most one of each type
}

// Recent returns the counts of the current and the previous clock hour: the basis
// of the latency percentiles.
func Recent(hours []stats.Hour, now time.Time) stats.Counts {
	return stats.Sum(hours, RecentSince(now))
}

// RecentSince returns the start of the first hour of Recent.
func RecentSince(now time.Time) time.Time { return now.Truncate(time.Hour).Add(-time.Hour) }

// Day returns the counts of the hours that began in the last 24 hours, and not before since: the
// basis of the dead rate. since is the time of the last change of status. The hour in which the
// endpoint was enabled began before since and does not count, because it may hold the deaths that
// disabled the endpoint, which would disable it again.
func Day(hours []stats.Hour, since, now time.Time) stats.Counts {
	if day := now.Add(-24 * time.Hour); since.Before(day) {
		since = day
	}
	return stats.Sum(hours, since)
}

// Judge reviews an endpoint. Judge is repeatable: equal facts within a quarter of an
// hour give equal verdicts with equal notification keys. Facts with the verdict
// already applied give no notifications.
func Judge(f Facts, now time.Time) Verdict {
	before := f.Flags
	if before.WarnedAt.Before(f.Endpoint.StatusSince) { // a warning ends with the status
		before.Warned, before.WarnedAt = WarnedNever, time.Time{}
	}
	day := Day(f.Hours, countedSince(f.Endpoint), now)
	j := judgement{Facts: f, before: before, after: before, recent: Recent(f.Hours, now), day: day.Figures(), now: now}
	j.judgeSpeed()
	j.judgeDeaths()
	j.judgeCertificate()
	j.judgeRisk()
	j.after.Began, j.after.Judged = began(f), time.Time{}
	if !j.after.Began.IsZero() {
		j.after.Judged = condition.Newest(f.Hours)
	}
	return Verdict{Flags: j.after, Disable: j.disable, Notifications: j.notifications()}
}

// began returns the Flags.Began that follows from the facts.
func began(f Facts) time.Time {
	c := condition.Of(condition.Facts{
		Status: f.Endpoint.Status, StatusSince: f.Endpoint.StatusSince, CreatedAt: f.Endpoint.CreatedAt, Circuit: f.Circuit, Hours: f.Hours, Began: f.Flags.Began, Judged: f.Flags.Judged,
	})
	if c.State == condition.Failing || c.State == condition.Degraded {
		return c.Since
	}
	return time.Time{}
}

// countedSince returns the start of the counted hours: the time of the last change
// of status. For an endpoint in its first status, the hour of the creation counts,
// because that hour holds no older deaths.
func countedSince(e hook.Endpoint) time.Time {
	if e.StatusSince.Equal(e.CreatedAt) {
		return e.StatusSince.Truncate(time.Hour)
	}
	return e.StatusSince
}

// Timeout returns the timeout of attempts at a slow endpoint: three times the 99th percentile, at
// least MinTimeout. It returns 0, for no extra timeout, if the endpoint's own timeout is not
// longer than that.
func Timeout(p99, own time.Duration) time.Duration {
	if timeout := max(MinTimeout, 3*p99); timeout < own {
		return timeout
	}
	return 0
}

// judgement is a review in progress.
type judgement struct {
	Facts

	before, after Flags // before: without a warning of an earlier status
	recent        stats.Counts
	day           stats.Figures
	now           time.Time
	disable       bool
}

func (j *judgement) judgeSpeed() {
	if j.recent.Latency.Count() >= Enough {
		p95 := j.recent.Latency.Percentile(95)
		j.after.Slow, j.after.Fragile = p95 > SlowOver, p95 > FragileOver
		j.after.Timeout = 0
		if j.after.Slow {
			j.after.Timeout = Timeout(j.recent.Latency.Percentile(99), j.Endpoint.Timeout)
		}
	}
	if j.after.Timeout >= j.Endpoint.Timeout { // the owner lowered the endpoint's timeout
		j.after.Timeout = 0
	}
}

// judgeDeaths applies the dead rate to active endpoints. Other endpoints receive nothing and
// carry no warning: after the next activation, deaths and warnings start from zero.
func (j *judgement) judgeDeaths() {
	switch rate := j.day.DeadRate(); {
	case j.Endpoint.Status != hook.StatusActive:
		j.warn(WarnedNever)
	case j.day.Settled() < Enough:
	case rate > DisableOver && j.mayDisable():
		j.disable = true
		j.warn(WarnedNever)
	case rate > WarnAgainOver:
		j.warn(WarnedTwice)
	case rate > WarnOver:
		j.warn(max(j.before.Warned, WarnedOnce))
	case rate < WarnOver:
		j.warn(WarnedNever)
	}
}

// mayDisable reports whether the dead rate may disable the endpoint: the owner
// allows the disabling, an earlier review gave the second warning, and the endpoint
// fails now.
func (j *judgement) mayDisable() bool {
	warned := j.before.Warned == WarnedTwice && j.before.WarnedAt.Before(j.quarter())
	return j.Endpoint.AutoDisable && warned && j.failsNow()
}

// failsNow reports whether the current and the previous clock hour have a death or a
// transient failure, and no success.
func (j *judgement) failsNow() bool {
	return j.recent.Delivered == 0 && j.recent.Dead+j.recent.Failed > 0
}

// warn sets the warning level. A repeated review in the same quarter of an hour sets
// the same WarnedAt.
func (j *judgement) warn(level int) {
	if level == j.after.Warned {
		return
	}
	j.after.Warned, j.after.WarnedAt = level, time.Time{}
	if level == WarnedNever {
		return
	}
	if j.after.WarnedAt = j.quarter(); j.after.WarnedAt.Before(j.Endpoint.StatusSince) {
		j.after.WarnedAt = j.Endpoint.StatusSince.UTC()
	}
}
