package retry

import (
	"fmt"
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
	var v validation
	hasExponential := p.Exponential != (hook.Exponential{})

	if count(p.Preset != "", p.Schedule != nil, hasExponential) > 1 {
		v.add("retry", "must have exactly one of preset, schedule and exponential")
		return v.errs
	}
	switch {
	case p.Schedule != nil:
		v.schedule(p.Schedule)
	case hasExponential:
		v.exponential(p.Exponential)
	default:
		if _, ok := preset(p.Preset); !ok && p.Preset != "" {
			v.add("retry.preset", "must be one of %s", strings.Join(Presets(), ", "))
		}
		if p.Jitter != 0 {
			v.add("retry.jitter", "is only valid with schedule or exponential: a preset defines the jitter")
		}
		return v.errs
	}
	if p.Jitter > hook.JitterNone {
		v.add("retry.jitter", "must be full, equal, proportional or none")
	}
	return v.errs
}

type validation struct{ errs []hook.FieldError }

func (v *validation) add(field, format string, args ...any) {
	v.errs = append(v.errs, hook.FieldError{Field: field, Message: fmt.Sprintf(format, args...)})
}

func (v *validation) delay(field string, d, atLeast time.Duration) {
	if d < atLeast || d > hook.MaxDelay {
		v.add(field, "must be %s to %s", hook.FormatDuration(atLeast), hook.FormatDuration(hook.MaxDelay))
	}
}

func (v *validation) schedule(delays []time.Duration) {
	if len(delays) == 0 || len(delays) > hook.MaxScheduleDelays {
		v.add("retry.schedule", "must have 1 to %d delays", hook.MaxScheduleDelays)
		return // one error instead of thousands
	}
	for i, d := range delays {
		v.delay(fmt.Sprintf("retry.schedule[%d]", i), d, MinDelay)
	}
}

func (v *validation) exponential(e hook.Exponential) {
	v.delay("retry.exponential.base", e.Base, MinDelay)
	if !(e.Factor >= 1 && e.Factor <= hook.MaxExponentialFactor) { // NaN fails both comparisons
		v.add("retry.exponential.factor", "must be 1 to %g", hook.MaxExponentialFactor)
	}
	shortestCap := MinDelay
	if e.Base <= hook.MaxDelay { // otherwise base is the wrong field
		shortestCap = max(e.Base, MinDelay)
	}
	v.delay("retry.exponential.cap", e.Cap, shortestCap)
	if e.Attempts < 2 || e.Attempts > hook.MaxAttempts {
		v.add("retry.exponential.attempts", "must be 2 to %d", hook.MaxAttempts)
	}
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
