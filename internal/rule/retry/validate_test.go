package retry_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook/internal/hook"
	"surehook/internal/rule/retry"
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
		{"nothing said is the default", hook.RetryPolicy{}, nil},
		{"an unknown preset", hook.RetryPolicy{Preset: "weekly"}, []string{"retry.preset"}},
		{"a preset's name is exact", hook.RetryPolicy{Preset: "Standard"}, []string{"retry.preset"}},
		{"a preset with a jitter of its own", hook.RetryPolicy{Preset: "day", Jitter: hook.JitterFull}, []string{"retry.jitter"}},
		{"a jitter alone", hook.RetryPolicy{Jitter: hook.JitterNone}, []string{"retry.jitter"}},
		{"a preset and a schedule", hook.RetryPolicy{Preset: "day", Schedule: []time.Duration{h}}, []string{"retry"}},
		{"a preset and an exponential", hook.RetryPolicy{Preset: "day", Exponential: hook.Exponential{Base: h}}, []string{"retry"}},
		{"a schedule and an exponential", hook.RetryPolicy{Schedule: []time.Duration{h}, Exponential: hook.Exponential{Attempts: 3}}, []string{"retry"}},

		{"the shortest schedule", schedule(time.Second), nil},
		{"the longest schedule", schedule(slices.Repeat([]time.Duration{hook.MaxDelay}, 20)...), nil},
		{"the last jitter", hook.RetryPolicy{Schedule: []time.Duration{h}, Jitter: hook.JitterNone}, nil},
		{"an unknown jitter", hook.RetryPolicy{Schedule: []time.Duration{h}, Jitter: hook.JitterNone + 1}, []string{"retry.jitter"}},
		{"a schedule of no delays", hook.RetryPolicy{Schedule: []time.Duration{}}, []string{"retry.schedule"}},
		{"one delay too many", schedule(slices.Repeat([]time.Duration{h}, 21)...), []string{"retry.schedule"}},
		{"delays out of bounds", schedule(time.Second-1, h, hook.MaxDelay+1, 0, -h), []string{"retry.schedule[0]", "retry.schedule[2]", "retry.schedule[3]", "retry.schedule[4]"}},

		{"an exponential", exponential(func(*hook.Exponential) {}), nil},
		{"the smallest exponential", exponential(func(e *hook.Exponential) {
			*e = hook.Exponential{Base: time.Second, Factor: 1, Cap: time.Second, Attempts: 2}
		}), nil},
		{"the largest exponential", exponential(func(e *hook.Exponential) {
			*e = hook.Exponential{Base: hook.MaxDelay, Factor: 10, Cap: hook.MaxDelay, Attempts: 21}
		}), nil},
		{"a base too short", exponential(func(e *hook.Exponential) { e.Base = time.Second - 1 }), []string{"retry.exponential.base"}},
		{"a base too long is not blamed on the cap", exponential(func(e *hook.Exponential) { e.Base = hook.MaxDelay + 1 }), []string{"retry.exponential.base"}},
		{"a factor below 1", exponential(func(e *hook.Exponential) { e.Factor = 0.999 }), []string{"retry.exponential.factor"}},
		{"a factor above 10", exponential(func(e *hook.Exponential) { e.Factor = 10.001 }), []string{"retry.exponential.factor"}},
		{"a factor that is no number", exponential(func(e *hook.Exponential) { e.Factor = math.NaN() }), []string{"retry.exponential.factor"}},
		{"a cap below the base", exponential(func(e *hook.Exponential) { e.Cap = e.Base - 1 }), []string{"retry.exponential.cap"}},
		{"a cap too long", exponential(func(e *hook.Exponential) { e.Cap = hook.MaxDelay + 1 }), []string{"retry.exponential.cap"}},
		{"a cap left out", exponential(func(e *hook.Exponential) { e.Cap = 0 }), []string{"retry.exponential.cap"}},
		{"one attempt", exponential(func(e *hook.Exponential) { e.Attempts = 1 }), []string{"retry.exponential.attempts"}},
		{"one attempt too many", exponential(func(e *hook.Exponential) { e.Attempts = 22 }), []string{"retry.exponential.attempts"}},
		{"everything wrong", hook.RetryPolicy{Exponential: hook.Exponential{Base: -1}, Jitter: 99}, []string{
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
					t.Errorf("Validate(%+v) says nothing about %s", tt.policy, e.Field)
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
