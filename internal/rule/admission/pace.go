package admission

import (
	"math"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
)

const (
	// firstPace is the lowest pace after the first 429, in attempts per second.
	firstPace = 5
	// Until the first 429 at a pace it doubles in ten seconds. From then on it grows by half a percent a second, and each
	// 429 takes a fifth: near what the receiver takes, most of the time is growth.
	firstGrowth, growth, decrease = 1.07, 1.005, 0.8
)

// Pace is the rate at which an endpoint gets attempts after it answered 429. The hold that it asked for is not
// enough: what waited meanwhile would come at once, be refused, and wait again with all that came since. The pace
// begins with what the endpoint took before, and grows until ten minutes have passed without another 429.
type Pace struct {
	Rate    float64   `stored:"pace"`         // attempts per second at Since; 0: no pace
	Since   time.Time `stored:"pace_since"`   // the end of the hold
	Refused bool      `stored:"pace_refused"` // a 429 came at a pace, so what the endpoint takes is about known
}

// At returns the attempts per second at the time; 0: no limit.
func (p Pace) At(now time.Time) float64 {
	if p.Rate == 0 || now.Sub(p.Since) >= circuit.Window {
		return 0
	}
	by := firstGrowth
	if p.Refused {
		by = growth
	}
	if rate := p.Rate * math.Pow(by, max(0, now.Sub(p.Since).Seconds())); rate < hook.MaxRatePerSecond {
		return rate
	}
	return 0
}

// slower returns the pace after a 429 that holds the endpoint until the time, at most once in narrowEvery. taken are
// the results of the last ten minutes.
func (p Pace) slower(taken circuit.Counts, until, now time.Time) Pace {
	rate := p.At(now)
	switch {
	case rate == 0:
		perSecond := max(float64(taken.LastOK)/60, float64(taken.OK)/circuit.Window.Seconds())
		return Pace{Rate: max(perSecond, firstPace), Since: until}
	case until.Sub(p.Since) < narrowEvery: // after a short hold: perhaps refused for the same reason
		return p
	}
	return Pace{Rate: max(rate*decrease, hook.MinRatePerSecond), Since: until, Refused: true}
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
