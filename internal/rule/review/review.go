package review

import (
	"time"

	"surehook/internal/hook"
	"surehook/internal/rule/stats"
)

// Flags are what the reviews so far decided about an endpoint. Values compare
// with ==; the zero Flags are those of an endpoint never reviewed.
type Flags struct {
	Slow    bool          // p95 over SlowOver
	Fragile bool          // p95 over FragileOver: a lower threshold opens its circuit
	Timeout time.Duration // an attempt ends after this, if that is before the endpoint's own timeout; 0: none
	Warned  int           // the warning given last: WarnedNever, WarnedOnce or WarnedTwice
}

// Facts are what an endpoint is judged by.
type Facts struct {
	Endpoint hook.Endpoint
	Flags    Flags        // of the review before
	Hours    []stats.Hour // the last 25 hours of the clock at most, in order; those without attempts may be missing
}

// Verdict is what is to be done about an endpoint.
type Verdict struct {
	Flags         Flags               // to be kept for the next review
	Disable       bool                // the endpoint, with NoticeDisabled among the Notices to say why
	Notifications []hook.Notification // for its owner; one of a type at most
}

// Recent returns what was counted in the hour of the clock under way and the
// one before: what the speed of an endpoint is judged by.
func Recent(hours []stats.Hour, now time.Time) stats.Counts {
	return stats.Sum(hours, RecentSince(now))
}

// RecentSince returns when the hours began that Recent counts.
func RecentSince(now time.Time) time.Time { return now.Truncate(time.Hour).Add(-time.Hour) }

// Day returns what was counted in the hours that began in the last 24, and at or
// after since: what the dead rate of an endpoint is judged by. The hour in which an
// endpoint was enabled began before it was, so it does not count: it may hold the very
// deaths for which the endpoint was disabled, and would disable it again at once.
func Day(hours []stats.Hour, since, now time.Time) stats.Counts {
	if day := now.Add(-24 * time.Hour); since.Before(day) {
		since = day
	}
	return stats.Sum(hours, since)
}

// Judge reviews an endpoint. It is repeatable: the same facts within the same
// quarter of an hour give the same verdict with the same notices' keys, and the
// facts with the verdict carried out give no notices.
func Judge(f Facts, now time.Time) Verdict {
	j := judgement{
		endpoint: f.Endpoint,
		before:   f.Flags,
		after:    f.Flags,
		recent:   Recent(f.Hours, now),
		day:      Day(f.Hours, since(f.Endpoint), now),
		now:      now,
	}
	j.judgeSpeed()
	j.judgeDeaths()
	return Verdict{Flags: j.after, Disable: j.disable, Notifications: j.notifications()}
}

// since returns from when on deaths count: from when the endpoint got its
// status. One that has had no other began with its first hour, whole:
// nothing of that is from before.
func since(e hook.Endpoint) time.Time {
	if e.StatusSince.Equal(e.CreatedAt) {
		return e.StatusSince.Truncate(time.Hour)
	}
	return e.StatusSince
}

// Timeout returns after how long an attempt at a slow endpoint ends: three times
// the 99th percentile of its answers, at least MinTimeout; 0, for no such limit,
// when the endpoint's own timeout ends it as early.
func Timeout(p99, own time.Duration) time.Duration {
	if timeout := max(MinTimeout, 3*p99); timeout < own {
		return timeout
	}
	return 0
}

// judgement is a review under way.
type judgement struct {
	endpoint      hook.Endpoint
	before, after Flags
	recent, day   stats.Counts
	now           time.Time
	disable       bool
}

func (j *judgement) judgeSpeed() {
	if j.recent.Latency.Count() >= Enough {
		p95 := j.recent.Latency.Percentile(95)
		j.after.Slow, j.after.Fragile = p95 > SlowOver, p95 > FragileOver
		j.after.Timeout = 0
		if j.after.Slow {
			j.after.Timeout = Timeout(j.recent.Latency.Percentile(99), j.endpoint.Timeout)
		}
	}
	if j.after.Timeout >= j.endpoint.Timeout { // its owner lowered it since
		j.after.Timeout = 0
	}
}

// judgeDeaths judges active endpoints. Any other takes nothing and has no
// warning: when it is active again its deaths are counted afresh, and so are
// its warnings.
func (j *judgement) judgeDeaths() {
	if j.endpoint.Status != hook.StatusActive {
		j.after.Warned = WarnedNever
		return
	}
	if j.day.Settled() < Enough {
		return
	}
	switch rate := j.day.DeadRate(); {
	case rate > DisableOver:
		j.disable, j.after.Warned = true, WarnedNever
	case rate > WarnAgainOver:
		j.after.Warned = WarnedTwice
	case rate > WarnOver:
		j.after.Warned = max(j.before.Warned, WarnedOnce)
	case rate < WarnOver:
		j.after.Warned = WarnedNever
	}
}
