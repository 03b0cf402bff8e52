package retry

import (
	"math"
	"time"

	"surehook.example/surehook/internal/hook"
)

// The names of the presets.
const (
	standard    = "standard"
	minute      = "minute"
	exponential = "exponential"
	day         = "day"
)

// Presets returns the names of the presets; the first is the default.
func Presets() []string { return []string{standard, minute, exponential, day} }

// preset returns the policy of a preset. The package comment lists the resulting
// delays.
func preset(name string) (p hook.RetryPolicy, ok bool) {
	switch name {
	case standard:
		return hook.RetryPolicy{
			Schedule: []time.Duration{30 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 8 * time.Hour, 24 * time.Hour},
			Jitter:   hook.JitterFull,
		}, true
	case minute:
		return hook.RetryPolicy{
			Schedule: []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 8 * time.Hour, 24 * time.Hour},
			Jitter:   hook.JitterProportional,
		}, true
	case exponential:
		return hook.RetryPolicy{
			Exponential: hook.Exponential{Base: 30 * time.Second, Factor: 2, Cap: time.Hour, Attempts: 8},
			Jitter:      hook.JitterFull,
		}, true
	case day:
		return hook.RetryPolicy{
			Schedule: []time.Duration{
				30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute,
				time.Hour, 4 * time.Hour, 8 * time.Hour,
			},
			Jitter: hook.JitterProportional,
		}, true
	}
	return hook.RetryPolicy{}, false
}

// resolve replaces a preset by its schedule or exponential. An empty policy and an unknown
// preset resolve to standard.
func resolve(p hook.RetryPolicy) hook.RetryPolicy {
	if p.Preset == "" && (len(p.Schedule) > 0 || p.Exponential != (hook.Exponential{})) {
		return p
	}
	if named, ok := preset(p.Preset); ok {
		return named
	}
	named, _ := preset(standard)
	return named
}

// attempts returns the number of attempts of a resolved policy, 1 to hook.MaxAttempts.
func attempts(p hook.RetryPolicy) int {
	n := p.Exponential.Attempts
	if len(p.Schedule) > 0 {
		n = len(p.Schedule) + 1
	}
	return min(max(n, 1), hook.MaxAttempts)
}

// base returns the delay of a resolved policy after failure n, before jitter:
// 0 to hook.MaxDelay, also for an invalid policy.
func base(p hook.RetryPolicy, n int) time.Duration {
	if len(p.Schedule) > 0 {
		return clamp(p.Schedule[n-1])
	}
	e := p.Exponential
	ceiling := clamp(e.Cap)
	grown := float64(clamp(e.Base)) * math.Pow(e.Factor, float64(n-1))
	if grown >= 0 && grown < float64(ceiling) { // false for NaN
		return time.Duration(grown)
	}
	return ceiling
}

func clamp(d time.Duration) time.Duration { return min(max(d, 0), hook.MaxDelay) }
