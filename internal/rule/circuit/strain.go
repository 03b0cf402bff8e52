package circuit

import (
	"math"
	"time"
)

// judgedEvery is the longest time between two writes of StrainedAt.
const judgedEvery = time.Minute

// luck is the probability below which a row of successes is not luck: the endpoint works
// again.
const luck = 1e-5

// Strained reports whether so many attempts fail that each one needs an in-flight slot now. Without any result for
// a Window nothing is known.
func (c Circuit) Strained(now time.Time) bool {
	return c.State == Closed && now.Sub(c.StrainedAt) < Window
}

// judged returns the closed circuit with StrainedAt by the failure rate of the window. It ends the
// strain at once after a row of successes that is not luck at this failure rate.
func (c Circuit) judged(r Results, w Counts, s Settings, now time.Time) Circuit {
	strained := !c.recovering(now) && s.strained(w)
	if !strained && c.StrainedAt.IsZero() {
		return c
	}
	if r.Failed > 0 {
		c.Successes = 0
	}
	c.Successes += r.Passed
	if c.Successes > 0 && math.Pow(float64(w.OK)/float64(w.OK+w.Failed), float64(c.Successes)) <= luck {
		c.ClosedAt = now // the failures of the window are over, as after an outage
		strained = false
	}
	switch {
	case !strained:
		c.StrainedAt, c.Successes = time.Time{}, 0
	case now.Sub(c.StrainedAt) >= judgedEvery:
		c.StrainedAt = now
	}
	return c
}

// strained reports whether the failure rate of the counts reaches Rate, and not by chance.
func (s Settings) strained(w Counts) bool {
	total := w.OK + w.Failed
	return total >= s.Minimum && s.Rate < 1 && lowerBound(w.Failed, total) >= s.Rate
}
