package review_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/review"
	"surehook.example/surehook/internal/rule/stats"
)

func facts(before review.Flags, counts ...stats.Counts) review.Facts {
	return review.Facts{Endpoint: active(), Flags: before, Hours: []stats.Hour{at(0, counts...)}}
}

// manual returns the facts with auto_disable off.
func manual(f review.Facts) review.Facts {
	f.Endpoint.AutoDisable = false
	return f
}

// earlier adds counts of five hours ago.
func earlier(f review.Facts, counts ...stats.Counts) review.Facts {
	f.Hours = append([]stats.Hour{at(5*time.Hour, counts...)}, f.Hours...)
	return f
}

func TestJudge_notificationsHaveAllFigures(t *testing.T) {
	t.Parallel()

	got := review.Judge(facts(review.Flags{}, answered(20, 6*time.Second), settled(6, 20)), now)
	figures := map[string]float64{
		"p95_ms": 5712, "p99_ms": 5712, "samples": 20, "timeout_ms": 17137,
		"dead_rate": 0.3, "dead": 6, "settled": 20, "warned": 25,
	}
	want := []hook.Notification{
		{
			Type: hook.NotificationSlow, Tenant: "acme", Endpoint: "ep_a", At: now, Figures: figures,
			Reason: "Slow: 95 % of the last 20 attempts took at most 5.71s, more than 5s: fewer failures in a row open its circuit; an attempt now ends after 17.14s.",
			Key:    "webhook.endpoint.slow/ep_a/2026-03-04T12:30Z",
		},
		{
			Type: hook.NotificationFailing, Tenant: "acme", Endpoint: "ep_a", At: now, Figures: figures,
			Reason: "Failing: 6 of the last 20 deliveries died (30 %), more than 25 %; a later review disables the endpoint above 50 %, if no delivery succeeds.",
			Key:    "webhook.endpoint.failing/ep_a/25/2026-03-04T12:30Z",
		},
	}
	if diff := cmp.Diff(want, got.Notifications); diff != "" {
		t.Errorf("Judge().Notifications differ (-want +got):\n%s", diff)
	}
}

func TestJudge_reasons(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name        string
		facts       review.Facts
		reason, key string
	}{
		{
			name: "slow only", facts: facts(review.Flags{}, answered(100, 3*time.Second)),
			reason: "Slow: 95 % of the last 100 attempts took at most 3.13s, more than 2s; an attempt now ends after 9.4s.",
			key:    "webhook.endpoint.slow/ep_a/2026-03-04T12:30Z",
		},
		{
			name: "slow with a short timeout of the endpoint", facts: facts(review.Flags{}, answered(100, 10*time.Second)),
			reason: "Slow: 95 % of the last 100 attempts took at most 10.41s, more than 5s: fewer failures in a row open its circuit.",
			key:    "webhook.endpoint.slow/ep_a/2026-03-04T12:30Z",
		},
		{
			name: "failing", facts: facts(warned(25), settled(4091, 10000)),
			reason: "Failing: 4091 of the last 10000 deliveries died (40.9 %), more than 40 %; a later review disables the endpoint above 50 %, if no delivery succeeds.",
			key:    "webhook.endpoint.failing/ep_a/40/2026-03-04T12:30Z",
		},
		{
			name: "failing with auto_disable off", facts: manual(facts(warned(25), settled(20, 20))),
			reason: "Failing: 20 of the last 20 deliveries died (100 %), more than 40 %; auto_disable is off, so the endpoint stays active.",
			key:    "webhook.endpoint.failing/ep_a/40/2026-03-04T12:30Z",
		},
		{
			name: "disabled", facts: earlier(facts(warned(40), settled(2, 2)), settled(18, 28)),
			reason: "Disabled: 20 of the last 30 deliveries died (66.7 %), more than 50 %, and none has succeeded since 11:00 UTC.",
			key:    "webhook.endpoint.disabled/ep_a/7",
		},
		{
			name: "not slow", facts: facts(review.Flags{Slow: true}, answered(20, 0)),
			reason: "Recovered: 95 % of the last 20 attempts took at most 1ms, not more than 2s.",
			key:    "webhook.endpoint.recovered/ep_a/2026-03-04T12:30Z",
		},
		{
			name: "not slow and not failing", facts: facts(review.Flags{Slow: true, Warned: 40, WarnedAt: warned(40).WarnedAt}, answered(20, time.Second), settled(0, 20)),
			reason: "Recovered: 95 % of the last 20 attempts took at most 1.04s, not more than 2s; and 0 of the last 20 deliveries died (0 %), less than 25 %.",
			key:    "webhook.endpoint.recovered/ep_a/2026-03-04T12:30Z",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got := review.Judge(tt.facts, now).Notifications
			if len(got) != 1 {
				t.Fatalf("Judge() gives %d notifications; want 1", len(got))
			}
			if got[0].Reason != tt.reason {
				t.Errorf("Reason = %q; want %q", got[0].Reason, tt.reason)
			}
			if got[0].Key != tt.key {
				t.Errorf("Key = %q; want %q", got[0].Key, tt.key)
			}
		})
	}
}

func TestJudge_keysIdentifyTheOccurrence(t *testing.T) {
	t.Parallel()

	slow := facts(review.Flags{}, answered(20, 3*time.Second))
	dead := facts(warned(40), settled(20, 20))
	enabledAgain := dead
	enabledAgain.Endpoint.Version += 2
	quarter := now.Truncate(review.Every)
	tests := []struct {
		name   string
		a, b   review.Facts
		at, to time.Time
		same   bool
	}{
		{name: "the same within a quarter of an hour", a: slow, b: slow, at: quarter, to: quarter.Add(review.Every - 1), same: true},
		{name: "different in the next", a: slow, b: slow, at: quarter, to: quarter.Add(review.Every), same: false},
		{name: "the same in another zone", a: slow, b: slow, at: now, to: now.In(time.FixedZone("", 3600)), same: true},
		{name: "a disabling has one key until applied", a: dead, b: dead, at: quarter, to: quarter.Add(review.Every), same: true},
		{name: "and a new key after the next activation", a: dead, b: enabledAgain, at: quarter, to: quarter, same: false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			a, b := review.Judge(tt.a, tt.at).Notifications[0].Key, review.Judge(tt.b, tt.to).Notifications[0].Key
			if (a == b) != tt.same {
				t.Errorf("keys %q and %q: same = %t; want %t", a, b, a == b, tt.same)
			}
		})
	}
}
