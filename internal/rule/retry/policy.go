package retry

import (
	"math"
	"slices"
	"time"

	"surehook.example/surehook/internal/hook"
)

// presets returns the presets; the first is the default. The package comment lists the resulting delays.
func presets() []hook.RetryPolicy {
	const m, h = time.Minute, time.Hour
	return []hook.RetryPolicy{
		{Preset: "standard", Schedule: []time.Duration{m / 2, 5 * m, 30 * m, 2 * h, 8 * h, 24 * h}, Jitter: hook.JitterFull},
		{Preset: "minute", Schedule: []time.Duration{m, 5 * m, 30 * m, 2 * h, 8 * h, 24 * h}, Jitter: hook.JitterProportional},
		{Preset: "exponential", Exponential: hook.Exponential{Base: m / 2, Factor: 2, Cap: h, Attempts: 8}, Jitter: hook.JitterFull},
		{Preset: "day", Schedule: []time.Duration{m / 2, 2 * m, 10 * m, 30 * m, h, 4 * h, 8 * h}, Jitter: hook.JitterProportional},
	}
}

// Presets returns the names of the presets; the first is the default.
func Presets() []string {
	var names []string
	for _, p := range presets() {
		names = append(names, p.Preset)
	}
	return names
}

// resolve replaces a preset by its schedule or exponential. An empty policy and an unknown
// preset resolve to standard.
func resolve(p hook.RetryPolicy) hook.RetryPolicy {
	if p.Preset == "" && (len(p.Schedule) > 0 || p.Exponential != (hook.Exponential{})) {
		return p
	}
	return presets()[max(slices.Index(Presets(), p.Preset), 0)]
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
