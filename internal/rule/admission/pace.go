package admission

import (
	"math"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
)

const (
	// leastPace is the lowest pace, and firstPace the lowest after the first 429, in attempts per second. From mostPace on
	// there is none: parked deliveries could not follow it through slots.
	leastPace, firstPace, mostPace = 1, 5, maxDrainSlots
	// The pace doubles in ten seconds. If a 429 came at a pace, it grows by half a percent a second in the minute after
	// the hold: near what the receiver takes, most of the time is growth. Such a 429 takes a fifth off the pace, or less
	// if the hold before ended less than narrowEvery before this one ends.
	growth, slowGrowth, decrease = 1.07, 1.005, 0.8
	slowFor                      = time.Minute
	// pacedWait is how long a task waits for a rate slot of a pace at most. Parked deliveries follow its growth.
	pacedWait = 5 * time.Second
)

// Pace is the rate at which an endpoint gets attempts after it answered 429. The hold that it asked for is not
// enough: what waited meanwhile would come at once, be refused, and wait again with all that came since. The pace
// begins with what the endpoint answered per second before, and grows until it is mostPace: within two minutes without
// another 429.
type Pace struct {
	Rate    float64   `stored:"pace"`         // attempts per second at Since; 0: no pace
	Since   time.Time `stored:"pace_since"`   // the end of the hold
	Refused bool      `stored:"pace_refused"` // a 429 came at a pace, so what the endpoint takes is about known
}

// At returns the attempts per second at the time; 0: no limit.
func (p Pace) At(now time.Time) float64 {
	since := now.Sub(p.Since)
	if p.Rate == 0 {
		return 0
	}
	slow := time.Duration(0)
	if p.Refused {
		slow = min(max(0, since), slowFor)
	}
	rate := p.Rate * math.Pow(slowGrowth, slow.Seconds()) * math.Pow(growth, max(0, since-slow).Seconds())
	if rate >= mostPace {
		return 0
	}
	return rate
}

// slower returns the pace after a 429 that holds the endpoint until the time. taken are the results of the last ten
// minutes.
func (p Pace) slower(taken circuit.Counts, until, now time.Time) Pace {
	rate, apart := p.At(now), min(until.Sub(p.Since), narrowEvery) // apart: from the end of the last hold to the end of this one
	if rate == 0 {
		inMinute := max(10, now.Second()) // seconds of the current minute
		return Pace{Rate: max(firstPace, float64(taken.OK)/circuit.Window.Seconds(), float64(taken.LastOK)/float64(inMinute)), Since: until}
	}
	rate *= math.Pow(decrease, max(0, apart).Seconds()/narrowEvery.Seconds()) // after short holds perhaps for the same reason
	return Pace{Rate: max(rate, leastPace), Since: until, Refused: p.Refused || apart == narrowEvery}
}

// RateNow returns the attempts per second that the endpoint may get now: the lower one of its own rate and its pace.
// 0: no limit.
func (r *Record) RateNow(e *hook.Endpoint, now time.Time) float64 {
	pace := r.Pace.At(now)
	if pace == 0 || e.RatePerSecond > 0 && e.RatePerSecond < pace {
		return e.RatePerSecond
	}
	return pace
}

// RateWait returns how long a task waits for its rate slot at most. If the next slot is later, the delivery is parked.
func (r *Record) RateWait(e *hook.Endpoint, now time.Time) time.Duration {
	if r.RateNow(e, now) != e.RatePerSecond {
		return pacedWait
	}
	return MaxRateWait
}

// heldUntil returns the record with the end of the hold after a 429, from when its pace counts.
func (r Record) heldUntil(at time.Time) Record {
	r.ThrottledUntil = at
	if r.Pace.Rate > 0 {
		r.Pace.Since = at
	}
	return r
}
