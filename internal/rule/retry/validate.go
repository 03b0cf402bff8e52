package retry

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"surehook.example/surehook/internal/hook"
)

// MinDelay is the shortest valid delay of a policy, before jitter.
const MinDelay = time.Second

// Validate checks a policy and returns one error per wrong field. The zero policy
// is valid and means the standard preset. Without a preset, the zero jitter means
// full jitter.
func Validate(p hook.RetryPolicy) []hook.FieldError {
	var errs hook.Fields
	hasExponential := p.Exponential != (hook.Exponential{})

	if count(p.Preset != "", p.Schedule != nil, hasExponential) > 1 {
		errs.Add("retry", "must have exactly one of preset, schedule and exponential")
		return errs
	}
	switch {
	case p.Schedule != nil:
		validateSchedule(&errs, p.Schedule)
	case hasExponential:
		validateExponential(&errs, p.Exponential)
	default:
		errs.Refuse(p.Preset != "" && !slices.Contains(Presets(), p.Preset), "retry.preset", "must be one of %s", strings.Join(Presets(), ", "))
		errs.Refuse(p.Jitter != 0, "retry.jitter", "is only valid with schedule or exponential: a preset defines the jitter")
		return errs
	}
	errs.Refuse(p.Jitter > hook.JitterNone, "retry.jitter", "must be full, equal, proportional or none")
	return errs
}

func validateDelay(errs *hook.Fields, field string, d, atLeast time.Duration) {
	errs.Refuse(d < atLeast || d > hook.MaxDelay, field, "must be %s to %s", hook.FormatDuration(atLeast), hook.FormatDuration(hook.MaxDelay))
}

func validateSchedule(errs *hook.Fields, delays []time.Duration) {
	if len(delays) == 0 || len(delays) > hook.MaxScheduleDelays {
		errs.Add("retry.schedule", "must have 1 to %d delays", hook.MaxScheduleDelays)
		return // one error instead of thousands
	}
	for i, d := range delays {
		validateDelay(errs, fmt.Sprintf("retry.schedule[%d]", i), d, MinDelay)
	}
}

func validateExponential(errs *hook.Fields, e hook.Exponential) {
	validateDelay(errs, "retry.exponential.base", e.Base, MinDelay)
	errs.Refuse(!(e.Factor >= 1 && e.Factor <= hook.MaxExponentialFactor), // NaN fails both comparisons
		"retry.exponential.factor", "must be 1 to %g", hook.MaxExponentialFactor)
	shortestCap := MinDelay
	if e.Base <= hook.MaxDelay { // otherwise base is the wrong field
		shortestCap = max(e.Base, MinDelay)
	}
	validateDelay(errs, "retry.exponential.cap", e.Cap, shortestCap)
	errs.Refuse(e.Attempts < 2 || e.Attempts > hook.MaxAttempts, "retry.exponential.attempts", "must be 2 to %d", hook.MaxAttempts)
}

func count(conditions ...bool) int {
	n := 0
	for _, c := range conditions {
		if c {
			n++
		}
	}
	return n
}
