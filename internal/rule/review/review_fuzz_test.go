package review_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/latency"
	"surehook.example/surehook/internal/rule/review"
	"surehook.example/surehook/internal/rule/stats"
)

// fuzzed returns one hour per five bytes: the hour, a bucket and the count in the bucket, dead and delivered.
func fuzzed(data []byte) []stats.Hour {
	var hours []stats.Hour
	for c := range slices.Chunk(data, 5) {
		if len(c) < 5 {
			break
		}
		h := stats.Hour{Start: hour.Add(-time.Duration(c[0]%30) * time.Hour), Counts: settled(int(c[3]), int(c[3])+int(c[4]))}
		h.Latency.AddN(int(c[1])%latency.BucketCount, int(c[2]))
		hours = append(hours, h)
	}
	return hours
}

func FuzzJudge(f *testing.F) {
	f.Add([]byte{}, []byte{}, byte(0), int64(0), int64(0), int64(0))
	f.Add([]byte{0, 85, 20, 6, 14}, []byte{0, 10, 20, 1, 19}, byte(1), int64(10*time.Second), int64(time.Hour), int64(0))
	f.Add([]byte{0, 85, 20, 11, 9}, []byte{1, 75, 9, 0, 0}, byte(1), int64(10*time.Second), int64(5*time.Second), int64(14*time.Minute))
	f.Add([]byte{0, 109, 20, 9, 11, 3, 1, 2, 3, 4}, []byte{}, byte(2), int64(time.Second), int64(-1), int64(-1))
	f.Fuzz(func(t *testing.T, first, second []byte, status byte, own, since, shift int64) {
		e := with(hook.Status(status%4), time.Duration(own))
		e.StatusSince = now.Add(-time.Duration(since))
		at := now.Add(time.Duration(shift))
		before := review.Judge(review.Facts{Endpoint: e, Hours: fuzzed(first)}, at).Flags
		e.Timeout /= 2
		facts := review.Facts{Endpoint: e, Flags: before, Hours: fuzzed(second)}
		v := review.Judge(facts, at)
		holds(t, facts, v)

		facts.Flags = v.Flags
		if v.Disable {
			facts.Endpoint.Status = hook.StatusDisabled
		}
		again := review.Judge(facts, at)
		if len(again.Notifications) > 0 || again.Disable || again.Flags != v.Flags {
			t.Errorf("Judge(%+v) of its own result = %+v; want %+v and no notifications", facts, again, v.Flags)
		}
	})
}

// holds checks the documented invariants of every verdict.
func holds(t *testing.T, f review.Facts, v review.Verdict) {
	t.Helper()

	if d := v.Flags.Timeout; d != 0 && (d < review.MinTimeout || d >= f.Endpoint.Timeout || !v.Flags.Slow) {
		t.Errorf("Judge(%+v).Flags.Timeout = %v; want 0, or %v to less than %v for a slow one", f, d, review.MinTimeout, f.Endpoint.Timeout)
	}
	if v.Flags.Fragile && !v.Flags.Slow {
		t.Errorf("Judge(%+v) is fragile and not slow", f)
	}
	if f.Endpoint.Status != hook.StatusActive && (v.Disable || v.Flags.Warned > 0) {
		t.Errorf("Judge(%+v) = %+v of an endpoint that is not active", f, v)
	}
	notified := map[string]bool{}
	for _, n := range v.Notifications {
		if notified[n.Type] || n.Reason == "" || n.Key == "" || !n.IsDecision() {
			t.Errorf("Judge(%+v) notifies %+v; want one per type, with reason and key", f, n)
		}
		notified[n.Type] = true
	}
	if v.Disable != notified[hook.NotificationDisabled] {
		t.Errorf("Judge(%+v).Disable = %t; want a notification", f, v.Disable)
	}
}

func ExampleJudge() {
	hours := []stats.Hour{at(0, answered(100, 3*time.Second), settled(3, 100))}
	v := review.Judge(review.Facts{Endpoint: active(), Hours: hours}, now)
	fmt.Println(v.Flags.Slow, v.Disable)
	for _, n := range v.Notifications {
		fmt.Println(n.Type)
		fmt.Println(n.Reason)
	}
	// Output:
	// true false
	// webhook.endpoint.slow
	// Slow: 95 % of the last 100 attempts took at most 3.13s, more than 2s; an attempt now ends after 9.4s.
}
