// Package stats is what one endpoint's attempts and deliveries come to, hour by
// hour: what the circuit, the review and the health of an endpoint are decided
// by. It knows neither where counts are kept nor what is decided.
package stats

import (
	"time"

	"surehook/internal/hook"
	"surehook/internal/rule/latency"
)

// Counts is what was counted. Its zero value is nothing; values compare with ==.
type Counts struct {
	OK     int // attempts that show that the endpoint is alive, whatever it answered
	Failed int // attempts that failed for a time, being throttled left out

	Classes [hook.ClassRedirect + 1]int // attempts by class
	Numbers [hook.MaxAttempts + 1]int   // attempts by number, from 1

	Delivered int           // deliveries that were delivered
	First     int           // of them, at their first attempt
	Waited    time.Duration // of them, from the event to the success, summed up
	Dead      int           // deliveries that gave up

	Latency latency.Histogram // how long the attempts took that the endpoint answered, or should have
}

// Attempt is what came of one attempt.
type Attempt struct {
	Class    hook.Class
	Number   int
	Duration time.Duration
	State    hook.State    // of the delivery, after it
	Age      time.Duration // of the delivery, after it
}

// Count adds an attempt. It counts OK and Failed not: what they mean is the gate's to say.
func (c *Counts) Count(a Attempt) {
	if int(a.Class) < len(c.Classes) {
		c.Classes[a.Class]++
	}
	if a.Number >= 0 && a.Number < len(c.Numbers) {
		c.Numbers[a.Number]++
	}
	switch a.State {
	case hook.StateDelivered:
		c.Delivered++
		c.Waited += a.Age
		if a.Number == 1 {
			c.First++
		}
	case hook.StateDead:
		c.Dead++
	case hook.StateQueued, hook.StateRetrying, hook.StateParked, hook.StateDiscarded, hook.StateCancelled:
	}
	if timed(a.Class) {
		c.Latency.Add(a.Duration)
	}
}

// timed reports whether an attempt of the class says how fast the endpoint is:
// not those that never reached it.
func timed(c hook.Class) bool {
	switch c {
	case hook.ClassDelivered, hook.ClassUnavailable, hook.ClassThrottled, hook.ClassTimeout, hook.ClassGone, hook.ClassRefused, hook.ClassRedirect:
		return true
	case hook.ClassDNS, hook.ClassConnect, hook.ClassReset, hook.ClassTLS, hook.ClassBlocked:
		return false
	}
	return false
}

// Add adds other counts.
func (c *Counts) Add(other Counts) {
	c.OK += other.OK
	c.Failed += other.Failed
	for i, n := range other.Classes {
		c.Classes[i] += n
	}
	for i, n := range other.Numbers {
		c.Numbers[i] += n
	}
	c.Delivered += other.Delivered
	c.First += other.First
	c.Waited += other.Waited
	c.Dead += other.Dead
	c.Latency.Merge(other.Latency)
}

// Attempts returns how many attempts were made.
func (c *Counts) Attempts() int {
	n := 0
	for _, m := range c.Numbers {
		n += m
	}
	return n
}

// Settled returns how many deliveries were delivered or gave up.
func (c *Counts) Settled() int { return c.Delivered + c.Dead }

// DeadRate returns the share of the settled deliveries that gave up, 0 to 1; 0 when none settled.
func (c *Counts) DeadRate() float64 { return share(c.Dead, c.Settled()) }

// FinalRate returns the share of the settled deliveries that were delivered; 0 when none settled.
func (c *Counts) FinalRate() float64 { return share(c.Delivered, c.Settled()) }

// FirstRate returns the share of the first attempts that delivered; 0 when there was none.
func (c *Counts) FirstRate() float64 { return share(c.First, c.Numbers[1]) }

// SuccessRate returns the share of the attempts that delivered; 0 when there was none.
func (c *Counts) SuccessRate() float64 { return share(c.Classes[hook.ClassDelivered], c.Attempts()) }

// MeanAge returns the mean time from the event to its delivery; 0 when none was delivered.
func (c *Counts) MeanAge() time.Duration {
	if c.Delivered == 0 {
		return 0
	}
	return c.Waited / time.Duration(c.Delivered)
}

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// Hour is what was counted in one hour of the clock, in UTC.
type Hour struct {
	Start time.Time
	Counts
}

// Sum returns what was counted in the hours that begin at or after since.
func Sum(hours []Hour, since time.Time) Counts {
	var sum Counts
	for _, h := range hours {
		if !h.Start.Before(since) {
			sum.Add(h.Counts)
		}
	}
	return sum
}
