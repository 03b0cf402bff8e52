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

	if p.Preset != "" && (p.Schedule != nil || hasExponential) || p.Schedule != nil && hasExponential {
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

func validateSchedule(errs *hook.Fields, delays []time.Duration) {
	if len(delays) == 0 || len(delays) > hook.MaxScheduleDelays {
		errs.Add("retry.schedule", "must have 1 to %d delays", hook.MaxScheduleDelays)
		return // one error instead of thousands
	}
	for i, d := range delays {
		hook.Between(errs, fmt.Sprintf("retry.schedule[%d]", i), d, MinDelay, hook.MaxDelay)
	}
}

func validateExponential(errs *hook.Fields, e hook.Exponential) {
	hook.Between(errs, "retry.exponential.base", e.Base, MinDelay, hook.MaxDelay)
	hook.Between(errs, "retry.exponential.factor", e.Factor, 1, hook.MaxExponentialFactor)
	shortestCap := MinDelay
	if e.Base <= hook.MaxDelay { // otherwise base is the wrong field
		shortestCap = max(e.Base, MinDelay)
	}
	hook.Between(errs, "retry.exponential.cap", e.Cap, shortestCap, hook.MaxDelay)
	hook.Between(errs, "retry.exponential.attempts", e.Attempts, 2, hook.MaxAttempts)
}
