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

// A condition after days of silence is another one, although its hours are all of failures, too.
func TestJudge_beganAfterASilence(t *testing.T) {
	t.Parallel()

	failed := func(start time.Time) []stats.Hour {
		h := stats.Hour{Start: start, FailedAt: start.Add(7 * time.Minute)}
		for range 5 {
			h.Count(stats.Attempt{Class: hook.ClassRefused, Number: 1, State: hook.StateRetrying})
		}
		return []stats.Hour{h}
	}
	judge := func(flags review.Flags, start time.Time) review.Flags {
		return review.Judge(review.Facts{Endpoint: active(), Flags: flags, Circuit: circuit.New(), Hours: failed(start)}, start.Add(time.Hour/2)).Flags
	}
	for silence, want := range map[time.Duration]time.Duration{24 * time.Hour: 7 * time.Minute, 25 * time.Hour: 25*time.Hour + 7*time.Minute} {
		flags := judge(judge(review.Flags{}, hour), hour.Add(silence))
		if !flags.Began.Equal(hour.Add(want)) {
			t.Errorf("after a silence of %s, Began = %s; want %s", silence, flags.Began, hour.Add(want))
		}
	}
}
