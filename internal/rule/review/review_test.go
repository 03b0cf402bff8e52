package review_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook/internal/hook"
	"surehook/internal/rule/latency"
	"surehook/internal/rule/review"
	"surehook/internal/rule/stats"
)

// now is seven minutes into the third quarter of an hour, long after the endpoint was made.
var (
	now  = time.Date(2026, 3, 4, 12, 37, 0, 0, time.UTC)
	hour = now.Truncate(time.Hour)
)

func active() hook.Endpoint {
	return hook.Endpoint{
		ID: "ep_a", Tenant: "acme", Timeout: 20 * time.Second, Version: 7,
		Status: hook.StatusActive, StatusSince: now.AddDate(0, 0, -9), CreatedAt: now.AddDate(0, 0, -9),
	}
}

// with returns the endpoint in another status, or with another timeout.
func with(status hook.Status, timeout time.Duration) hook.Endpoint {
	e := active()
	e.Status, e.Timeout = status, timeout
	return e
}

// answered returns counts of attempts that took as long as each other.
func answered(n int, d time.Duration) stats.Counts {
	var c stats.Counts
	c.Latency.AddN(latency.Bucket(d), n)
	return c
}

// settled returns counts of deliveries.
func settled(dead, of int) stats.Counts { return stats.Counts{Dead: dead, Delivered: of - dead} }

// at returns an hour that began so long before the one under way, with the sum of the counts.
func at(ago time.Duration, counts ...stats.Counts) stats.Hour {
	h := stats.Hour{Start: hour.Add(-ago)}
	for _, c := range counts {
		h.Add(c)
	}
	return h
}

// value returns the percentile that is told of attempts that took d.
func value(d time.Duration) time.Duration { return latency.Value(latency.Bucket(d)) }

// upTo returns the longest percentile that is told and not more than the limit.
func upTo(limit time.Duration) time.Duration {
	bucket := latency.Bucket(limit)
	if latency.Value(bucket) > limit {
		bucket--
	}
	return latency.Value(bucket)
}

// over returns the shortest percentile that is told and more than the limit.
func over(limit time.Duration) time.Duration {
	return latency.Value(latency.Bucket(upTo(limit)) + 1)
}

func TestJudge(t *testing.T) {
	t.Parallel()

	slow := review.Flags{Slow: true, Timeout: 3 * over(2*time.Second)}
	fragile := review.Flags{Slow: true, Fragile: true, Timeout: 3 * over(5*time.Second)}
	warned := func(level int) review.Flags { return review.Flags{Warned: level} }
	tests := []struct {
		name     string
		endpoint hook.Endpoint
		before   review.Flags
		counts   []stats.Counts // of the hour under way
		want     review.Flags
		notices  []string
	}{
		{"an endpoint without attempts is left as it is", active(), review.Flags{}, nil, review.Flags{}, nil},
		{"a p95 of at most 2 s is not slow", active(), review.Flags{}, []stats.Counts{answered(20, upTo(2*time.Second))}, review.Flags{}, nil},
		{"a p95 over 2 s is", active(), review.Flags{}, []stats.Counts{answered(20, over(2*time.Second))}, slow, []string{hook.NotificationSlow}},
		{"19 samples are too few to be slow", active(), review.Flags{}, []stats.Counts{answered(19, over(2*time.Second))}, review.Flags{}, nil},
		{"two of twenty are the 95th percentile", active(), review.Flags{}, []stats.Counts{answered(18, time.Second), answered(2, over(2*time.Second))}, slow, []string{hook.NotificationSlow}},
		{"one of twenty is not", active(), review.Flags{}, []stats.Counts{answered(19, time.Second), answered(1, 30*time.Second)}, review.Flags{}, nil},
		{"who is slow still is not told again", active(), slow, []stats.Counts{answered(20, over(2*time.Second))}, slow, nil},
		{"a p95 of at most 5 s is not fragile", active(), slow, []stats.Counts{answered(20, upTo(5*time.Second))}, review.Flags{Slow: true, Timeout: 3 * upTo(5*time.Second)}, nil},
		{"a p95 over 5 s is", active(), slow, []stats.Counts{answered(20, over(5*time.Second))}, fragile, nil},
		{"and is slow at once", active(), review.Flags{}, []stats.Counts{answered(20, over(5*time.Second))}, fragile, []string{hook.NotificationSlow}},
		{"fragile becomes slow", active(), fragile, []stats.Counts{answered(20, over(2*time.Second))}, slow, nil},
		{"the timeout follows the 99th percentile", active(), review.Flags{}, []stats.Counts{answered(90, over(2*time.Second)), answered(10, 6*time.Second)}, review.Flags{Slow: true, Fragile: true, Timeout: 3 * value(6*time.Second)}, []string{hook.NotificationSlow}},
		{"there is none that the endpoint's own would end before", with(hook.StatusActive, 3*over(2*time.Second)), review.Flags{}, []stats.Counts{answered(20, over(2*time.Second))}, review.Flags{Slow: true}, []string{hook.NotificationSlow}},
		{"there is one just below its own", with(hook.StatusActive, 3*over(2*time.Second)+1), review.Flags{}, []stats.Counts{answered(20, over(2*time.Second))}, slow, []string{hook.NotificationSlow}},
		{"one that its own ends before goes without samples", with(hook.StatusActive, slow.Timeout), slow, nil, review.Flags{Slow: true}, nil},
		{"with fewer than twenty samples slow stays", active(), fragile, []stats.Counts{answered(19, time.Second)}, fragile, nil},
		{"with twenty it recovers", active(), fragile, []stats.Counts{answered(20, upTo(2*time.Second))}, review.Flags{}, []string{hook.NotificationRecovered}},

		{"a quarter of deaths is no warning", active(), review.Flags{}, []stats.Counts{settled(5, 20)}, review.Flags{}, nil},
		{"more is the first", active(), review.Flags{}, []stats.Counts{settled(6, 20)}, warned(25), []string{hook.NotificationFailing}},
		{"it takes twenty settled deliveries", active(), review.Flags{}, []stats.Counts{settled(19, 19)}, review.Flags{}, nil},
		{"two fifths are not the second", active(), warned(25), []stats.Counts{settled(8, 20)}, warned(25), nil},
		{"more is the second", active(), warned(25), []stats.Counts{settled(9, 20)}, warned(40), []string{hook.NotificationFailing}},
		{"it may be the only one", active(), review.Flags{}, []stats.Counts{settled(9, 20)}, warned(40), []string{hook.NotificationFailing}},
		{"it is given once", active(), warned(40), []stats.Counts{settled(9, 20)}, warned(40), nil},
		{"less after it is no news", active(), warned(40), []stats.Counts{settled(6, 20)}, warned(40), nil},
		{"half is not disabled", active(), warned(40), []stats.Counts{settled(10, 20)}, warned(40), nil},
		{"more is", active(), warned(40), []stats.Counts{settled(11, 20)}, review.Flags{}, []string{hook.NotificationDisabled}},
		{"without any warning, too", active(), review.Flags{}, []stats.Counts{settled(20, 20)}, review.Flags{}, []string{hook.NotificationDisabled}},
		{"19 deaths of 19 are too few", active(), warned(40), []stats.Counts{settled(19, 19)}, warned(40), nil},
		{"a warning stays at a quarter", active(), warned(25), []stats.Counts{settled(5, 20)}, warned(25), nil},
		{"it goes below a quarter", active(), warned(25), []stats.Counts{settled(4, 20)}, review.Flags{}, []string{hook.NotificationRecovered}},
		{"from the second, too", active(), warned(40), []stats.Counts{settled(0, 20)}, review.Flags{}, []string{hook.NotificationRecovered}},
		{"it stays with too few", active(), warned(25), []stats.Counts{settled(0, 19)}, warned(25), nil},
		{"a paused endpoint is not disabled", with(hook.StatusPaused, 20*time.Second), review.Flags{}, []stats.Counts{settled(20, 20)}, review.Flags{}, nil},
		{"a disabled one neither", with(hook.StatusDisabled, 20*time.Second), review.Flags{}, []stats.Counts{settled(20, 20)}, review.Flags{}, nil},
		{"its warning goes without a word", with(hook.StatusDisabled, 20*time.Second), warned(40), []stats.Counts{settled(0, 20)}, review.Flags{}, nil},
		{"slow and failing are two notices", active(), review.Flags{}, []stats.Counts{answered(20, over(2*time.Second)), settled(6, 20)}, review.Flags{Slow: true, Timeout: slow.Timeout, Warned: 25}, []string{hook.NotificationSlow, hook.NotificationFailing}},
		{"recovered of both is one", active(), review.Flags{Slow: true, Warned: 25}, []stats.Counts{answered(20, time.Second), settled(0, 20)}, review.Flags{}, []string{hook.NotificationRecovered}},
		{"recovered of one and failing are two", active(), slow, []stats.Counts{answered(20, time.Second), settled(6, 20)}, warned(25), []string{hook.NotificationFailing, hook.NotificationRecovered}},
		{"who is disabled has not recovered", active(), slow, []stats.Counts{answered(20, time.Second), settled(11, 20)}, review.Flags{}, []string{hook.NotificationDisabled}},
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
			if diff := cmp.Diff(tt.notices, types); diff != "" {
				t.Errorf("Judge().Notices differ (-want +got):\n%s", diff)
			}
			if got.Disable != disabled {
				t.Errorf("Judge().Disable = %t; want %t, as it is told", got.Disable, disabled)
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
		{"the hour under way and the one before", now, 11},
		{"at the end of the hour", hour.Add(time.Hour - 1), 11},
		{"at its begin", hour, 11},
		{"just before its begin", hour.Add(-1), 111},
		{"in the next", hour.Add(time.Hour), 1},
		{"where clocks are half an hour off", now.In(time.FixedZone("", 5*3600+1800)), 11},
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
		{"an hour that began more than a day ago is out", time.Time{}, now, 111},
		{"one that began a day ago is in", time.Time{}, hour, 1111},
		{"and a nanosecond later out", time.Time{}, hour.Add(1), 111},
		{"the hour of the enabling is out", hour.Add(-time.Hour + 1), now, 1},
		{"the hour that began with it is in", hour.Add(-time.Hour), now, 11},
		{"all are out when it was in this hour", now, now, 0},
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

// TestJudge_countsDeathsFromTheStatus has all deaths in the hour under way.
func TestJudge_countsDeathsFromTheStatus(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name           string
		created, since time.Time
		want           bool
	}{
		{"one made this hour is judged by it", now.Add(-time.Minute), now.Add(-time.Minute), true},
		{"one enabled this hour is not", now.AddDate(0, 0, -9), now.Add(-time.Minute), false},
		{"one made and enabled again this hour is not", now.Add(-time.Minute), now.Add(-time.Second), false},
		{"one enabled before this hour is", now.AddDate(0, 0, -9), hour, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			e := active()
			e.CreatedAt, e.StatusSince = tt.created, tt.since
			if got := review.Judge(review.Facts{Endpoint: e, Hours: []stats.Hour{at(0, settled(20, 20))}}, now); got.Disable != tt.want {
				t.Errorf("Judge().Disable = %t; want %t", got.Disable, tt.want)
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
		{"three times the 99th percentile", 3 * time.Second, 10 * time.Second, 9 * time.Second},
		{"at least two seconds", 600 * time.Millisecond, 10 * time.Second, 2 * time.Second},
		{"which is three times this", 2 * time.Second / 3, 10 * time.Second, 2 * time.Second},
		{"and a bit more from here", 667 * time.Millisecond, 10 * time.Second, 2001 * time.Millisecond},
		{"none as long as the endpoint's own", 3 * time.Second, 9 * time.Second, 0},
		{"one a bit shorter", 3 * time.Second, 9*time.Second + 1, 9 * time.Second},
		{"none when its own is the shortest", 0, 2 * time.Second, 0},
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
