package condition

import (
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/stats"
)

// results are an hour with attempts, and how many of them succeeded.
type results struct {
	*stats.Hour

	attempts, successes int
}

// attempted returns the hours with attempts, the newest first.
func attempted(hours []stats.Hour) []results {
	var all []results
	for i := len(hours) - 1; i >= 0; i-- {
		if n := hours[i].Attempts(); n > 0 {
			all = append(all, results{&hours[i], n, min(hours[i].Classes[hook.ClassDelivered], n)})
		}
	}
	return all
}

// Newest returns the start of the newest hour with attempts; zero without one.
func Newest(hours []stats.Hour) time.Time {
	if all := attempted(hours); len(all) > 0 {
		return all[0].Start
	}
	return time.Time{}
}

// judge returns the state by the attempts alone.
func (f Facts) judge(all []results) State {
	if len(all) == 0 {
		return Quiet
	}
	newest := all[0].Start
	var succeeded, failed float64
	evidence := 0
	for _, h := range all {
		evidence += h.attempts - h.successes
		weight := faded(newest.Sub(h.Start)) * float64(min(h.attempts, fullHour)) / float64(h.attempts)
		succeeded += float64(h.successes) * weight
		failed += float64(h.attempts-h.successes) * weight
	}
	lost := stats.Sum(f.Hours, newest).Dead // also of later hours: a death may count in the hour after its attempt
	switch share := succeeded / (succeeded + failed); {
	case succeeded == 0:
		return Failing
	case evidence < minFailed && lost == 0, passed(all) >= min(max(evidence, fewPassed), manyPassed):
		return Healthy
	case share < failingBelow:
		return Failing
	case share < degradedBelow:
		return Degraded
	}
	return Healthy
}

// passed returns the number of successes since the last failed attempt.
func passed(all []results) (n int) {
	for _, h := range all {
		if h.successes < h.attempts {
			return n + h.Passed
		}
		n += h.successes
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

// below returns the condition with the state. It began in the first of the latest consecutive hours
// whose share of successful attempts is below the given one, or before them all if there is no other
// hour. Hours without attempts do not interrupt them.
func (f Facts) below(all []results, share float64, state State) Condition {
	c, whole := Condition{State: state}, true
	for _, h := range all {
		if float64(h.successes) < share*float64(h.attempts) {
			if c.Since = h.FailedAt; c.Since.IsZero() {
				c.Since = h.Start
			}
		} else if !c.Since.IsZero() {
			whole = false
			break
		}
	}
	c.Class = commonest(f.Hours, c.Since)
	// The endpoint was quiet after the condition of Began, for the whole Span: this is another condition.
	quiet := len(all) > 0 && !f.Judged.IsZero() && all[len(all)-1].Start.Sub(f.Judged) > Span
	if whole && !f.Began.IsZero() && !quiet && (c.Since.IsZero() || f.Began.Before(c.Since)) {
		c.Since = f.Began
	}
	return c
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
func failedWith(all []results) int {
	for _, h := range all {
		if h.successes < h.attempts {
			return h.FailedWith
		}
	}
	return 0
}
