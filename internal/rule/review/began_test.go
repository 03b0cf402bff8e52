package review_test

import (
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/review"
	"surehook.example/surehook/internal/rule/stats"
)

// A condition of two days keeps its beginning, although the hours of a review reach back for one.
func TestJudge_began(t *testing.T) {
	t.Parallel()

	began := hour.Add(7 * time.Minute)
	var hours []stats.Hour
	var flags review.Flags
	judge := func(i int, class hook.Class) {
		h := stats.Hour{Start: hour.Add(time.Duration(i) * time.Hour)}
		h.FailedAt = h.Start.Add(7 * time.Minute)
		for range 5 {
			h.Count(stats.Attempt{Class: class, Number: 1, State: hook.StateRetrying})
		}
		hours = append(hours, h)
		flags = review.Judge(review.Facts{Endpoint: active(), Flags: flags, Circuit: circuit.New(), Hours: hours[max(0, len(hours)-25):]}, h.Start.Add(time.Hour/2)).Flags
	}
	for i := range 48 {
		if judge(i, hook.ClassRefused); !flags.Began.Equal(began) {
			t.Fatalf("after %d hours of failures, Began = %s; want %s", i+1, flags.Began, began)
		}
	}
	if judge(48, hook.ClassDelivered); !flags.Began.Equal(began) {
		t.Errorf("after 5 successes, Began = %s; want %s", flags.Began, began)
	}
	for i := range 3 {
		judge(49+i, hook.ClassDelivered)
	}
	if !flags.Began.IsZero() {
		t.Errorf("after hours of successes, Began = %s; want none", flags.Began)
	}
}
