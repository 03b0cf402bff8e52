package condition

import (
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/stats"
)

// judge returns the state by the attempts alone.
func judge(hours []stats.Hour) State {
	var newest time.Time // the start of the newest hour with attempts
	var succeeded, failed float64
	evidence, lost := 0, 0
	for i := len(hours) - 1; i >= 0; i-- {
		h := &hours[i]
		attempts, successes := results(h)
		if newest.IsZero() {
			lost += h.Dead // also of later hours: a death may count in the hour after its attempt
		}
		if attempts == 0 {
			continue
		}
		if newest.IsZero() {
			newest = h.Start
		}
		evidence += attempts - successes
		weight := faded(newest.Sub(h.Start)) * float64(min(attempts, fullHour)) / float64(attempts)
		succeeded += float64(successes) * weight
		failed += float64(attempts-successes) * weight
	}
	switch share := succeeded / (succeeded + failed); {
	case newest.IsZero():
		return Quiet
	case succeeded == 0:
		return Failing
	case evidence < minFailed && lost <= 0, passed(hours) >= min(max(evidence, fewPassed), manyPassed):
		return Healthy
	case share < failingBelow:
		return Failing
	case share < degradedBelow:
		return Degraded
	}
	return Healthy
}

// passed returns the number of successes since the last failed attempt.
func passed(hours []stats.Hour) int {
	n := 0
	for i := len(hours) - 1; i >= 0; i-- {
		attempts, successes := results(&hours[i])
		if successes < attempts {
			return n + hours[i].Passed
		}
		n += successes
	}
	return n
}

// faded returns the weight of an hour that began this long before the newest one.
func faded(before time.Duration) float64 {
	weight := 1.0
	for ; before >= time.Hour; before -= time.Hour {
		weight /= fade
	}
	return weight
}

// results returns the number of attempts in the hour, and of successful ones.
func results(h *stats.Hour) (attempts, successes int) {
	attempts = h.Attempts()
	return attempts, min(h.Classes[hook.ClassDelivered], attempts)
}

// below returns the condition with the state. It began in the first of the latest consecutive hours
// whose share of successful attempts is below the given one, or before them all if there is no other
// hour. Hours without attempts do not interrupt them.
func (f Facts) below(share float64, state State) Condition {
	c := Condition{State: state}
	for i := len(f.Hours) - 1; i >= 0; i-- {
		attempts, successes := results(&f.Hours[i])
		switch {
		case attempts == 0:
		case float64(successes) < share*float64(attempts):
			if c.Since = f.Hours[i].FailedAt; c.Since.IsZero() {
				c.Since = f.Hours[i].Start
			}
		case !c.Since.IsZero():
			c.Class = commonest(f.Hours, c.Since)
			return c
		}
	}
	c.Class = commonest(f.Hours, c.Since)
	if !f.Began.IsZero() && !f.quietSince() && (c.Since.IsZero() || f.Began.Before(c.Since)) {
		c.Since = f.Began
	}
	return c
}

// quietSince reports whether the endpoint was quiet after the condition of Began, for the whole Span.
func (f Facts) quietSince() bool {
	for i := range f.Hours {
		if f.Hours[i].Attempts() > 0 {
			return !f.Judged.IsZero() && f.Hours[i].Start.Sub(f.Judged) > Span
		}
	}
	return false
}

// Newest returns the start of the newest hour with attempts; zero without one.
func Newest(hours []stats.Hour) time.Time {
	for i := len(hours) - 1; i >= 0; i-- {
		if hours[i].Attempts() > 0 {
			return hours[i].Start
		}
	}
	return time.Time{}
}

// commonest returns the most common class of the failed attempts from the hour of since on; 0 without any.
func commonest(hours []stats.Hour, since time.Time) hook.Class {
	counts := stats.Sum(hours, since.Truncate(time.Hour)).Classes
	var most hook.Class
	for class := hook.ClassDelivered + 1; int(class) < hook.Classes; class++ {
		if counts[class] > counts[most] {
			most = class
		}
	}
	return most
}

// failedWith returns the HTTP status of the last failed attempt; 0 without an answer.
func failedWith(hours []stats.Hour) int {
	for i := len(hours) - 1; i >= 0; i-- {
		if attempts, successes := results(&hours[i]); successes < attempts {
			return hours[i].FailedWith
		}
	}
	return 0
}
