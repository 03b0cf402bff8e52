// Package drain foretells how parked deliveries leave: when the last has gone, and which of them
// pass the endpoint's max_age before their turn. It knows neither where the deliveries are nor
// what an attempt is.
//
// It takes parked deliveries to leave in the order of their creation, as all do that no attempt has failed. So the
// first to leave is the first to expire. One that expires takes no turn, and those behind it move up. So at least as
// many are lost as are too many for any of the deadlines: those created by a time, without the turns until the last
// of them expires. The highest of these numbers is reached, because no turn is unused while deliveries wait.
package drain

import (
	"math"
	"time"
)

// Slice is a number of deliveries, created evenly after the slice before and until Newest.
type Slice struct {
	Newest time.Time
	N      int
}

// Forecast is what becomes of parked deliveries if nothing changes.
type Forecast struct {
	PerSecond float64   `json:"per_second"`             // turns; 0: nothing leaves
	DrainsBy  time.Time `json:"drains_by,omitzero"`     // when all have left or expired; zero: no turns
	AtRisk    int       `json:"at_risk"`                // deliveries that expire before their turn
	FirstLoss time.Time `json:"first_loss_at,omitzero"` // when the first of them expires; zero for none
}

// Of returns the forecast for the slices, the oldest first, at perSecond turns from now on. The
// first slice is the oldest delivery.
func Of(slices []Slice, maxAge time.Duration, perSecond float64, now time.Time) Forecast {
	f := Forecast{PerSecond: perSecond}
	waiting, before := 0, now
	for _, s := range slices {
		if s.N == 0 {
			continue
		}
		if f.FirstLoss.IsZero() {
			f.FirstLoss = firstLoss(s, before, waiting, maxAge, perSecond, now)
		}
		waiting += s.N
		f.AtRisk = max(f.AtRisk, waiting-turns(s.Newest.Add(maxAge).Sub(now), perSecond))
		before = s.Newest
	}
	if perSecond > 0 {
		f.DrainsBy = now.Add(time.Duration(float64(waiting-f.AtRisk) / perSecond * float64(time.Second)))
	}
	return f
}

// turns returns the number of turns within the time, which may be negative.
func turns(within time.Duration, perSecond float64) int {
	return int(max(within.Seconds(), 0) * perSecond)
}

// firstLoss returns the deadline of the slice's first delivery that expires before its turn; zero
// for none. The slice begins after before, and ahead deliveries leave before it.
func firstLoss(s Slice, before time.Time, ahead int, maxAge time.Duration, perSecond float64, now time.Time) time.Time {
	if s.N == 1 {
		before = s.Newest
	}
	step := s.Newest.Sub(before) / time.Duration(s.N) // between two deliveries
	// Delivery i of 1 to N has its turn after (ahead+i)/perSecond, and expires after left + i*step.
	left := before.Add(maxAge).Sub(now).Seconds() * perSecond
	late := float64(ahead) - left // turns by which the slice begins late
	each := 1 - step.Seconds()*perSecond
	first := 1.0
	if late+each <= 0 {
		if each <= 0 {
			return time.Time{}
		}
		first = math.Floor(-late/each) + 1
	}
	if first > float64(s.N) {
		return time.Time{}
	}
	return before.Add(time.Duration(first) * step).Add(maxAge)
}
