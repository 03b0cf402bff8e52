package review_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/latency"
	"surehook.example/surehook/internal/rule/review"
	"surehook.example/surehook/internal/rule/stats"
)

// now is seven minutes into the third quarter of an hour, nine days after the endpoint was created.
var (
	now  = time.Date(2026, 3, 4, 12, 37, 0, 0, time.UTC)
	hour = now.Truncate(time.Hour)
)

func active() hook.Endpoint {
	return hook.Endpoint{
		ID: "ep_a", Tenant: "acme", Timeout: 20 * time.Second, Version: 7, AutoDisable: true,
		Status: hook.StatusActive, StatusSince: now.AddDate(0, 0, -9), CreatedAt: now.AddDate(0, 0, -9),
	}
}

// with returns the active endpoint with another status and timeout.
func with(status hook.Status, timeout time.Duration) hook.Endpoint {
	e := active()
	e.Status, e.Timeout = status, timeout
	return e
}

// answered returns the counts of n attempts that took d each.
func answered(n int, d time.Duration) stats.Counts {
	var c stats.Counts
	c.Latency.AddN(latency.Bucket(d), n)
	return c
}

// settled returns the counts of settled deliveries, some of them dead.
func settled(dead, of int) stats.Counts { return stats.Counts{Dead: dead, Delivered: of - dead} }

// at returns the hour that began ago before the current hour, with the sum of the counts.
func at(ago time.Duration, counts ...stats.Counts) stats.Hour {
	h := stats.Hour{Start: hour.Add(-ago)}
	for _, c := range counts {
		h.Add(&c)
	}
	return h
}

// value returns the percentile that the histogram gives for attempts of duration d.
func value(d time.Duration) time.Duration { return latency.Value(latency.Bucket(d)) }

// upTo returns the longest percentile that the histogram can give up to the limit.
func upTo(limit time.Duration) time.Duration {
	bucket := latency.Bucket(limit)
	if latency.Value(bucket) > limit {
		bucket--
	}
	return latency.Value(bucket)
}

// over returns the shortest percentile that the histogram can give over the limit.
func over(limit time.Duration) time.Duration {
	return latency.Value(latency.Bucket(upTo(limit)) + 1)
}

// warned returns the flags after a warning in the previous quarter of an hour.
func warned(level int) review.Flags {
	return review.Flags{Warned: level, WarnedAt: now.Truncate(review.Every).Add(-review.Every)}
}

// warnedNow returns the flags after a warning in this quarter of an hour.
func warnedNow(level int) review.Flags {
	return review.Flags{Warned: level, WarnedAt: now.Truncate(review.Every)}
}

func TestJudge(t *testing.T) {
	t.Parallel()

	slow := review.Flags{Slow: true, Timeout: 3 * over(2*time.Second)}
	fragile := review.Flags{Slow: true, Fragile: true, Timeout: 3 * over(5*time.Second)}
	tests := []struct {
		name     string
		endpoint hook.Endpoint
		before   review.Flags
		counts   []stats.Counts // of the current hour
		want     review.Flags
		notified []string
	}{
		{name: "an endpoint without attempts is unchanged", endpoint: active(), before: review.Flags{}, counts: nil, want: review.Flags{}, notified: nil},
		{name: "a p95 of at most 2 s is not slow", endpoint: active(), before: review.Flags{}, counts: []stats.Counts{answered(20, upTo(2*time.Second))}, want: review.Flags{}, notified: nil},
		{name: "a p95 over 2 s is slow", endpoint: active(), before: review.Flags{}, counts: []stats.Counts{answered(20, over(2*time.Second))}, want: slow, notified: []string{hook.NotificationSlow}},
		{name: "19 samples are too few to be slow", endpoint: active(), before: review.Flags{}, counts: []stats.Counts{answered(19, over(2*time.Second))}, want: review.Flags{}, notified: nil},
		{name: "two slow attempts of twenty make the p95 slow", endpoint: active(), before: review.Flags{}, counts: []stats.Counts{answered(18, time.Second), answered(2, over(2*time.Second))}, want: slow, notified: []string{hook.NotificationSlow}},
		{name: "one slow attempt of twenty does not", endpoint: active(), before: review.Flags{}, counts: []stats.Counts{answered(19, time.Second), answered(1, 30*time.Second)}, want: review.Flags{}, notified: nil},
		{name: "a slow endpoint is notified once", endpoint: active(), before: slow, counts: []stats.Counts{answered(20, over(2*time.Second))}, want: slow, notified: nil},
		{name: "a p95 of at most 5 s is not fragile", endpoint: active(), before: slow, counts: []stats.Counts{answered(20, upTo(5*time.Second))}, want: review.Flags{Slow: true, Timeout: 3 * upTo(5*time.Second)}, notified: nil},
		{name: "a p95 over 5 s is fragile", endpoint: active(), before: slow, counts: []stats.Counts{answered(20, over(5*time.Second))}, want: fragile, notified: nil},
		{name: "a p95 over 5 s is slow and fragile at once", endpoint: active(), before: review.Flags{}, counts: []stats.Counts{answered(20, over(5*time.Second))}, want: fragile, notified: []string{hook.NotificationSlow}},
		{name: "a fragile endpoint with a p95 of at most 5 s is only slow", endpoint: active(), before: fragile, counts: []stats.Counts{answered(20, over(2*time.Second))}, want: slow, notified: nil},
		{name: "the timeout is three times the p99", endpoint: active(), before: review.Flags{}, counts: []stats.Counts{answered(90, over(2*time.Second)), answered(10, 6*time.Second)}, want: review.Flags{Slow: true, Fragile: true, Timeout: 3 * value(6*time.Second)}, notified: []string{hook.NotificationSlow}},
		{name: "a timeout as long as the endpoint's own is not set", endpoint: with(hook.StatusActive, 3*over(2*time.Second)), before: review.Flags{}, counts: []stats.Counts{answered(20, over(2*time.Second))}, want: review.Flags{Slow: true}, notified: []string{hook.NotificationSlow}},
		{name: "a timeout just below the endpoint's own is set", endpoint: with(hook.StatusActive, 3*over(2*time.Second)+1), before: review.Flags{}, counts: []stats.Counts{answered(20, over(2*time.Second))}, want: slow, notified: []string{hook.NotificationSlow}},
		{name: "a timeout as long as the endpoint's own is removed, without samples", endpoint: with(hook.StatusActive, slow.Timeout), before: slow, counts: nil, want: review.Flags{Slow: true}, notified: nil},
		{name: "with 19 samples a slow endpoint stays slow", endpoint: active(), before: fragile, counts: []stats.Counts{answered(19, time.Second)}, want: fragile, notified: nil},
		{name: "with 20 samples it recovers", endpoint: active(), before: fragile, counts: []stats.Counts{answered(20, upTo(2*time.Second))}, want: review.Flags{}, notified: []string{hook.NotificationRecovered}},

		{name: "25 % dead is no warning", endpoint: active(), before: review.Flags{}, counts: []stats.Counts{settled(5, 20)}, want: review.Flags{}, notified: nil},
		{name: "more than 25 % dead is the first warning", endpoint: active(), before: review.Flags{}, counts: []stats.Counts{settled(6, 20)}, want: warnedNow(25), notified: []string{hook.NotificationFailing}},
		{name: "19 settled deliveries are too few for a warning", endpoint: active(), before: review.Flags{}, counts: []stats.Counts{settled(19, 19)}, want: review.Flags{}, notified: nil},
		{name: "40 % dead is not the second warning", endpoint: active(), before: warned(25), counts: []stats.Counts{settled(8, 20)}, want: warned(25), notified: nil},
		{name: "more than 40 % dead is the second warning", endpoint: active(), before: warned(25), counts: []stats.Counts{settled(9, 20)}, want: warnedNow(40), notified: []string{hook.NotificationFailing}},
		{name: "the second warning can come without the first", endpoint: active(), before: review.Flags{}, counts: []stats.Counts{settled(9, 20)}, want: warnedNow(40), notified: []string{hook.NotificationFailing}},
		{name: "a warning is given once", endpoint: active(), before: warned(40), counts: []stats.Counts{settled(9, 20)}, want: warned(40), notified: nil},
		{name: "a lower rate after the second warning gives no notification", endpoint: active(), before: warned(40), counts: []stats.Counts{settled(6, 20)}, want: warned(40), notified: nil},
		{name: "50 % dead does not disable", endpoint: active(), before: warned(40), counts: []stats.Counts{settled(10, 20)}, want: warned(40), notified: nil},
		{name: "all dead after the second warning disables", endpoint: active(), before: warned(40), counts: []stats.Counts{settled(20, 20)}, want: review.Flags{}, notified: []string{hook.NotificationDisabled}},
		{name: "the first review above the limit only warns", endpoint: active(), before: review.Flags{}, counts: []stats.Counts{settled(20, 20)}, want: warnedNow(40), notified: []string{hook.NotificationFailing}},
		{name: "19 settled deliveries are too few to disable", endpoint: active(), before: warned(40), counts: []stats.Counts{settled(19, 19)}, want: warned(40), notified: nil},
		{name: "a warning stays at 25 % dead", endpoint: active(), before: warned(25), counts: []stats.Counts{settled(5, 20)}, want: warned(25), notified: nil},
		{name: "the first warning ends below 25 % dead", endpoint: active(), before: warned(25), counts: []stats.Counts{settled(4, 20)}, want: review.Flags{}, notified: []string{hook.NotificationRecovered}},
		{name: "the second warning ends below 25 % dead", endpoint: active(), before: warned(40), counts: []stats.Counts{settled(0, 20)}, want: review.Flags{}, notified: []string{hook.NotificationRecovered}},
		{name: "a warning stays with 19 settled deliveries", endpoint: active(), before: warned(25), counts: []stats.Counts{settled(0, 19)}, want: warned(25), notified: nil},
		{name: "a paused endpoint is neither warned nor disabled", endpoint: with(hook.StatusPaused, 20*time.Second), before: review.Flags{}, counts: []stats.Counts{settled(20, 20)}, want: review.Flags{}, notified: nil},
		{name: "a disabled endpoint is neither warned nor disabled again", endpoint: with(hook.StatusDisabled, 20*time.Second), before: review.Flags{}, counts: []stats.Counts{settled(20, 20)}, want: review.Flags{}, notified: nil},
		{name: "a disabled endpoint loses the warning without a notification", endpoint: with(hook.StatusDisabled, 20*time.Second), before: warned(40), counts: []stats.Counts{settled(0, 20)}, want: review.Flags{}, notified: nil},
		{name: "slow and failing are two notifications", endpoint: active(), before: review.Flags{}, counts: []stats.Counts{answered(20, over(2*time.Second)), settled(6, 20)}, want: review.Flags{Slow: true, Timeout: slow.Timeout, Warned: 25, WarnedAt: warnedNow(25).WarnedAt}, notified: []string{hook.NotificationSlow, hook.NotificationFailing}},
		{name: "recovered from both is one notification", endpoint: active(), before: review.Flags{Slow: true, Warned: 25, WarnedAt: warned(25).WarnedAt}, counts: []stats.Counts{answered(20, time.Second), settled(0, 20)}, want: review.Flags{}, notified: []string{hook.NotificationRecovered}},
		{name: "recovered from one, and failing, are two notifications", endpoint: active(), before: slow, counts: []stats.Counts{answered(20, time.Second), settled(6, 20)}, want: warnedNow(25), notified: []string{hook.NotificationFailing, hook.NotificationRecovered}},
		{name: "a disabled endpoint has not recovered", endpoint: active(), before: review.Flags{Slow: true, Timeout: slow.Timeout, Warned: 40, WarnedAt: warned(40).WarnedAt}, counts: []stats.Counts{answered(20, time.Second), settled(20, 20)}, want: review.Flags{}, notified: []string{hook.NotificationDisabled}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got := review.Judge(review.Facts{Endpoint: tt.endpoint, Flags: tt.before, Hours: []stats.Hour{at(0, tt.counts...)}}, now)
			if got.Flags != tt.want {
				t.Errorf("Judge().Flags = %+v; want %+v", got.Flags, tt.want)
			}
			var types []string
			disabled := false
			for _, n := range got.Notifications {
				types = append(types, n.Type)
				disabled = disabled || n.Type == hook.NotificationDisabled
			}
			if diff := cmp.Diff(tt.notified, types); diff != "" {
				t.Errorf("Judge().Notifications differ (-want +got):\n%s", diff)
			}
			if got.Disable != disabled {
				t.Errorf("Judge().Disable = %t; want %t, as notified", got.Disable, disabled)
			}
		})
	}
}

func TestRecent(t *testing.T) {
	t.Parallel()

	hours := []stats.Hour{at(2*time.Hour, settled(100, 100)), at(time.Hour, settled(10, 10)), at(0, settled(1, 1))}
	tests := []struct {
		name string
		now  time.Time
		want int
	}{
		{name: "the current and the previous hour", now: now, want: 11},
		{name: "at the end of the current hour", now: hour.Add(time.Hour - 1), want: 11},
		{name: "at the start of the current hour", now: hour, want: 11},
		{name: "just before the start of the current hour", now: hour.Add(-1), want: 111},
		{name: "in the next hour", now: hour.Add(time.Hour), want: 1},
		{name: "in a zone with an offset of half an hour", now: now.In(time.FixedZone("", 5*3600+1800)), want: 11},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := review.Recent(hours, tt.now); got.Dead != tt.want {
				t.Errorf("Recent(%v) counts %d; want %d", tt.now, got.Dead, tt.want)
			}
		})
	}
}

func TestDay(t *testing.T) {
	t.Parallel()

	hours := []stats.Hour{at(24*time.Hour, settled(1000, 1000)), at(23*time.Hour, settled(100, 100)), at(time.Hour, settled(10, 10)), at(0, settled(1, 1))}
	tests := []struct {
		name       string
		since, now time.Time
		want       int
	}{
		{name: "an hour that began more than a day ago is out", since: time.Time{}, now: now, want: 111},
		{name: "an hour that began a day ago is in", since: time.Time{}, now: hour, want: 1111},
		{name: "an hour that began a nanosecond more than a day ago is out", since: time.Time{}, now: hour.Add(1), want: 111},
		{name: "the hour in which the status changed is out", since: hour.Add(-time.Hour + 1), now: now, want: 1},
		{name: "an hour that began with the status is in", since: hour.Add(-time.Hour), now: now, want: 11},
		{name: "all hours are out if the status changed in this hour", since: now, now: now, want: 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := review.Day(hours, tt.since, tt.now); got.Dead != tt.want {
				t.Errorf("Day(since %v, %v) counts %d; want %d", tt.since, tt.now, got.Dead, tt.want)
			}
		})
	}
}

// All deaths are in the current hour.
func TestJudge_countsNoDeathsFromBeforeTheStatus(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name           string
		created, since time.Time
		want           bool // a warning
	}{
		{name: "an endpoint created this hour is judged by this hour", created: now.Add(-time.Minute), since: now.Add(-time.Minute), want: true},
		{name: "an endpoint enabled this hour is not", created: now.AddDate(0, 0, -9), since: now.Add(-time.Minute), want: false},
		{name: "an endpoint created and enabled again this hour is not", created: now.Add(-time.Minute), since: now.Add(-time.Second), want: false},
		{name: "an endpoint enabled before this hour is", created: now.AddDate(0, 0, -9), since: hour, want: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			e := active()
			e.CreatedAt, e.StatusSince = tt.created, tt.since
			if got := review.Judge(review.Facts{Endpoint: e, Hours: []stats.Hour{at(0, settled(20, 20))}}, now); (got.Flags.Warned > 0) != tt.want {
				t.Errorf("Judge().Flags.Warned = %d; want a warning: %t", got.Flags.Warned, tt.want)
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name           string
		p99, own, want time.Duration
	}{
		{name: "three times the 99th percentile", p99: 3 * time.Second, own: 10 * time.Second, want: 9 * time.Second},
		{name: "at least two seconds", p99: 600 * time.Millisecond, own: 10 * time.Second, want: 2 * time.Second},
		{name: "three times the p99 at exactly two seconds", p99: 2 * time.Second / 3, own: 10 * time.Second, want: 2 * time.Second},
		{name: "three times the p99 just above two seconds", p99: 667 * time.Millisecond, own: 10 * time.Second, want: 2001 * time.Millisecond},
		{name: "none if it is as long as the endpoint's own", p99: 3 * time.Second, own: 9 * time.Second, want: 0},
		{name: "one if it is shorter than the endpoint's own", p99: 3 * time.Second, own: 9*time.Second + 1, want: 9 * time.Second},
		{name: "none if the endpoint's own is the shortest", p99: 0, own: 2 * time.Second, want: 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := review.Timeout(tt.p99, tt.own); got != tt.want {
				t.Errorf("Timeout(%v, %v) = %v; want %v", tt.p99, tt.own, got, tt.want)
			}
		})
	}
}
