package retry_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/retry"
)

func TestValidate(t *testing.T) {
	t.Parallel()

	exponential := func(change func(*hook.Exponential)) hook.RetryPolicy {
		e := hook.Exponential{Base: time.Minute, Factor: 2, Cap: h, Attempts: 8}
		change(&e)
		return hook.RetryPolicy{Exponential: e}
	}
	schedule := func(delays ...time.Duration) hook.RetryPolicy { return hook.RetryPolicy{Schedule: delays} }
	tests := []struct {
		name   string
		policy hook.RetryPolicy
		want   []string // the wrong fields
	}{
		{name: "an empty policy is the default", policy: hook.RetryPolicy{}, want: nil},
		{name: "an unknown preset", policy: hook.RetryPolicy{Preset: "weekly"}, want: []string{"retry.preset"}},
		{name: "a preset's name is exact", policy: hook.RetryPolicy{Preset: "Standard"}, want: []string{"retry.preset"}},
		{name: "a preset with a jitter", policy: hook.RetryPolicy{Preset: "day", Jitter: hook.JitterFull}, want: []string{"retry.jitter"}},
		{name: "a jitter alone", policy: hook.RetryPolicy{Jitter: hook.JitterNone}, want: []string{"retry.jitter"}},
		{name: "a preset and a schedule", policy: hook.RetryPolicy{Preset: "day", Schedule: []time.Duration{h}}, want: []string{"retry"}},
		{name: "a preset and an exponential", policy: hook.RetryPolicy{Preset: "day", Exponential: hook.Exponential{Base: h}}, want: []string{"retry"}},
		{name: "a schedule and an exponential", policy: hook.RetryPolicy{Schedule: []time.Duration{h}, Exponential: hook.Exponential{Attempts: 3}}, want: []string{"retry"}},

		{name: "the shortest schedule", policy: schedule(time.Second), want: nil},
		{name: "the longest schedule", policy: schedule(slices.Repeat([]time.Duration{hook.MaxDelay}, 20)...), want: nil},
		{name: "the last jitter", policy: hook.RetryPolicy{Schedule: []time.Duration{h}, Jitter: hook.JitterNone}, want: nil},
		{name: "an unknown jitter", policy: hook.RetryPolicy{Schedule: []time.Duration{h}, Jitter: hook.JitterNone + 1}, want: []string{"retry.jitter"}},
		{name: "a schedule of no delays", policy: hook.RetryPolicy{Schedule: []time.Duration{}}, want: []string{"retry.schedule"}},
		{name: "one delay too many", policy: schedule(slices.Repeat([]time.Duration{h}, 21)...), want: []string{"retry.schedule"}},
		{name: "delays out of bounds", policy: schedule(time.Second-1, h, hook.MaxDelay+1, 0, -h), want: []string{"retry.schedule[0]", "retry.schedule[2]", "retry.schedule[3]", "retry.schedule[4]"}},

		{name: "an exponential", policy: exponential(func(*hook.Exponential) {}), want: nil},
		{name: "the smallest exponential", policy: exponential(func(e *hook.Exponential) {
			*e = hook.Exponential{Base: time.Second, Factor: 1, Cap: time.Second, Attempts: 2}
		}), want: nil},
		{name: "the largest exponential", policy: exponential(func(e *hook.Exponential) {
			*e = hook.Exponential{Base: hook.MaxDelay, Factor: 10, Cap: hook.MaxDelay, Attempts: 21}
		}), want: nil},
		{name: "a base too short", policy: exponential(func(e *hook.Exponential) { e.Base = time.Second - 1 }), want: []string{"retry.exponential.base"}},
		{name: "a base too long is no error of the cap", policy: exponential(func(e *hook.Exponential) { e.Base = hook.MaxDelay + 1 }), want: []string{"retry.exponential.base"}},
		{name: "a factor below 1", policy: exponential(func(e *hook.Exponential) { e.Factor = 0.999 }), want: []string{"retry.exponential.factor"}},
		{name: "a factor above 10", policy: exponential(func(e *hook.Exponential) { e.Factor = 10.001 }), want: []string{"retry.exponential.factor"}},
		{name: "a factor of NaN", policy: exponential(func(e *hook.Exponential) { e.Factor = math.NaN() }), want: []string{"retry.exponential.factor"}},
		{name: "a cap below the base", policy: exponential(func(e *hook.Exponential) { e.Cap = e.Base - 1 }), want: []string{"retry.exponential.cap"}},
		{name: "a cap too long", policy: exponential(func(e *hook.Exponential) { e.Cap = hook.MaxDelay + 1 }), want: []string{"retry.exponential.cap"}},
		{name: "a cap left out", policy: exponential(func(e *hook.Exponential) { e.Cap = 0 }), want: []string{"retry.exponential.cap"}},
		{name: "one attempt", policy: exponential(func(e *hook.Exponential) { e.Attempts = 1 }), want: []string{"retry.exponential.attempts"}},
		{name: "one attempt too many", policy: exponential(func(e *hook.Exponential) { e.Attempts = 22 }), want: []string{"retry.exponential.attempts"}},
		{name: "everything wrong", policy: hook.RetryPolicy{Exponential: hook.Exponential{Base: -1}, Jitter: 99}, want: []string{
			"retry.exponential.base", "retry.exponential.factor", "retry.exponential.cap", "retry.exponential.attempts", "retry.jitter",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			var got []string
			for _, e := range retry.Validate(tt.policy) {
				got = append(got, e.Field)
				if e.Message == "" {
					t.Errorf("Validate(%+v) has no message for %s", tt.policy, e.Field)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("fields of Validate(%+v) differ (-want +got):\n%s", tt.policy, diff)
			}
		})
	}
}

func TestValidate_messages(t *testing.T) {
	t.Parallel()

	got := retry.Validate(hook.RetryPolicy{Exponential: hook.Exponential{Base: time.Minute, Factor: 11, Cap: time.Second, Attempts: 1}, Jitter: 9})
	want := []hook.FieldError{
		{Field: "retry.exponential.factor", Message: "must be 1 to 10"},
		{Field: "retry.exponential.cap", Message: "must be 1m to 168h"},
		{Field: "retry.exponential.attempts", Message: "must be 2 to 21"},
		{Field: "retry.jitter", Message: "must be full, equal, proportional or none"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Validate differs (-want +got):\n%s", diff)
	}
}

func TestPresets(t *testing.T) {
	t.Parallel()

	if diff := cmp.Diff([]string{"standard", "minute", "exponential", "day"}, retry.Presets()); diff != "" {
		t.Errorf("Presets() differs (-want +got):\n%s", diff)
	}
	for _, name := range retry.Presets() {
		if errs := retry.Validate(hook.RetryPolicy{Preset: name}); errs != nil {
			t.Errorf("Validate(%s) = %v; want nothing", name, errs)
		}
	}
}
