// Package stats counts the attempts and deliveries of one endpoint per hour. The circuit, the
// review and the health of the endpoint come from these counts. The package knows neither how
// counts are stored nor what is decided by them.
//
// A request of a coalescing endpoint has several deliveries. The endpoint counts it as one
// attempt, and each event type counts one attempt for each of its deliveries.
//
// # Rates
//
//	dead rate     dead / (delivered + dead)
//	final rate    delivered / (delivered + dead)
//	first rate    delivered at the first attempt / first attempts
//	success rate  attempts of class delivered / attempts
//
// A rate without a denominator is 0.
//
// # Latency
//
// The histogram holds the durations of attempts with a response or a timeout. The classes dns,
// connect, reset, tls, blocked, token and transformation do not count, because their durations
// do not measure the speed of the endpoint.
package stats

import (
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/latency"
)

// Kept is how long the counts of an hour are kept after its end: the 7 days that the statistics
// cover, and one more.
const Kept = 192 * time.Hour

// Counts are the counters of one endpoint. The zero value is empty; values compare with ==. A
// value takes 6 kB, so copies on the path of a delivery would grow the stack: pass pointers
// there.
type Counts struct {
	OK     int // requests whose outcome proves that the endpoint works: all that are not in Failed, but for 429
	Failed int // requests with a transient failure, except throttling

	Classes [hook.Classes]int         // attempts by class
	Numbers [hook.MaxRequests + 1]int // attempts by number, from 1

	Delivered  int           // delivered deliveries
	Passed     int           // successful attempts since the last failed one, or all without one
	FailedWith int           // HTTP status of the last failed attempt; 0 without an answer or a failed attempt
	First      int           // first attempts that delivered; one for a request with several deliveries
	Waited     time.Duration // sum of the ages of the deliveries when they were delivered
	// Dead is the number of dead deliveries. A settled replay takes the death back, possibly in a
	// later hour than the death, so the number can be negative.
	Dead int

	Queued time.Duration // sum of the ages of the deliveries at their first attempts, except of those parked before

	Latency latency.Histogram // durations of attempts with a response or a timeout
	Types   Types             // attempts and deaths by event type; a request with several deliveries is an attempt of each
}

// Attempt is the result of one attempt.
type Attempt struct {
	Type       string // of the event
	WithLeader bool   // the request counts with the leader of the batch; this one counts only as a delivery
	Class      hook.Class
	Status     int // HTTP status; 0 without an answer
	Number     int
	Duration   time.Duration
	State      hook.State    // of the delivery after the attempt
	Age        time.Duration // of the delivery at the end of the attempt: the time since the event, or since the replay
	Queued     time.Duration // age of the delivery at the first attempt; 0 for later attempts and for a delivery parked before
}

// Count adds an attempt, except to OK and Failed, which package admission counts.
func (c *Counts) Count(a Attempt) {
	c.countDelivery(a)
	if a.WithLeader {
		return
	}
	if c.Passed++; a.Class != hook.ClassDelivered {
		c.Passed, c.FailedWith = 0, a.Status
	}
	if int(a.Class) < len(c.Classes) {
		c.Classes[a.Class]++
	}
	if a.Number >= 0 && a.Number < len(c.Numbers) {
		c.Numbers[a.Number]++
	}
	if a.State == hook.StateDelivered && a.Number == 1 {
		c.First++
	}
	if a.Class.Timed() {
		c.Latency.Add(a.Duration)
		c.Types.Of(a.Type).Latency.Add(a.Duration)
	}
}

// countDelivery adds what counts for each delivery of a request: its wait, its end and its type.
func (c *Counts) countDelivery(a Attempt) {
	c.Queued += a.Queued
	c.Types.Of(a.Type).count(a)
	switch a.State {
	case hook.StateDelivered:
		c.Delivered++
		c.Waited += a.Age
	case hook.StateDead:
		c.Dead++
	case hook.StateQueued, hook.StateRetrying, hook.StateParked, hook.StateDiscarded, hook.StateCancelled:
	}
}

// Deaths returns the counts of n deaths without an attempt; a negative n takes deaths back.
func Deaths(eventType string, n int) *Counts {
	c := &Counts{Dead: n}
	c.Types.Of(eventType).Dead = n
	return c
}

// Add adds other counts, which are later, and stay as they are.
func (c *Counts) Add(other *Counts) {
	if other.Unsuccessful() > 0 {
		c.Passed, c.FailedWith = 0, other.FailedWith
	}
	c.Passed += other.Passed
	c.OK += other.OK
	c.Failed += other.Failed
	latency.AddEach(c.Classes[:], other.Classes[:])
	latency.AddEach(c.Numbers[:], other.Numbers[:])
	c.Delivered += other.Delivered
	c.First += other.First
	c.Waited += other.Waited
	c.Dead += other.Dead
	c.Queued += other.Queued
	c.Latency.Merge(&other.Latency)
	c.Types.Add(&other.Types)
}

// Attempts returns the number of attempts.
func (c *Counts) Attempts() int { return latency.Total(c.Numbers[:]) }

// Unsuccessful returns the number of attempts of all classes but delivered.
func (c *Counts) Unsuccessful() int { return c.Attempts() - c.Classes[hook.ClassDelivered] }

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// Hour holds the counts of one clock hour in UTC.
type Hour struct {
	Start    time.Time
	FailedAt time.Time // when the first unsuccessful attempt was counted; zero without one, and in hours that an older build counted
	Counts
}

// Sum returns the sum of the counts of the hours that began at or after since. Numbers of dead
// deliveries are at least 0: the hour of a death that was taken back may be missing, and the
// count of a death may be lost.
func Sum(hours []Hour, since time.Time) Counts {
	var sum Counts
	for i := range hours {
		if h := &hours[i]; !h.Start.Before(since) {
			sum.Add(&h.Counts)
		}
	}
	sum.Dead = max(sum.Dead, 0)
	for i := range sum.Types.Named {
		sum.Types.Named[i].Dead = max(sum.Types.Named[i].Dead, 0)
	}
	sum.Types.Other.Dead = max(sum.Types.Other.Dead, 0)
	return sum
}
