package circuit

import (
	"hash/fnv"
	"math"
	"time"
)

// shedStep is the precision of Shed in percent, because every change is a write.
const shedStep = 5

// judgedEvery is the longest time between two writes of ShedAt.
const judgedEvery = time.Minute

// luck is the probability below which a row of successes is not luck: the endpoint works
// again.
const luck = 1e-5

// Sheds returns the percentage of first attempts that wait now, 0 to 100. Without any result for
// a Window nothing is known, and none waits.
func (c Circuit) Sheds(now time.Time) int {
	if c.State != Closed || now.Sub(c.ShedAt) >= Window {
		return 0
	}
	return c.Shed
}

// PassRate returns the share of first attempts that start now, 0 to 1.
func (c Circuit) PassRate(now time.Time) float64 {
	if c.State != Closed {
		return 0
	}
	return float64(100-c.Sheds(now)) / 100
}

// Admits reports whether the first attempt of a delivery, named by key, may start now. A key
// that is admitted stays so while fewer wait.
func (c Circuit) Admits(key string, now time.Time) bool {
	shed := c.Sheds(now)
	if shed == 0 {
		return true
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(key))
	return int(h.Sum64()%100) >= shed
}

// judged returns the closed circuit with Shed by the failure rate of the window. It ends the
// shedding at once after a row of successes that is not luck at this failure rate.
func (c Circuit) judged(r Results, w Counts, s Settings, now time.Time) Circuit {
	shed := 0
	if !c.recovering(now) {
		shed = s.shed(w)
	}
	if shed == 0 && c.Shed == 0 {
		return c
	}
	if r.Failed > 0 {
		c.Successes = 0
	}
	c.Successes += r.Passed
	if c.Successes > 0 && math.Pow(float64(w.OK)/float64(w.OK+w.Failed), float64(c.Successes)) <= luck {
		c.ClosedAt = now // the failures of the window are over, as after an outage
		shed = 0
	}
	if shed == 0 {
		c.Shed, c.ShedAt, c.Successes = 0, time.Time{}, 0
		return c
	}
	if shed != c.Shed || now.Sub(c.ShedAt) >= judgedEvery {
		c.Shed, c.ShedAt = shed, now
	}
	return c
}

// shed returns the percentage of first attempts that wait at the counts: none until the failure
// rate reaches Rate, and not by chance, and then so many that the endpoint gets as many requests
// as it would at Rate, for the successes that it has. This is client-side adaptive throttling
// (B. Beyer et al., Site Reliability Engineering, 2016, chapter 21), with the lower bound of the
// rate's confidence interval in place of the rate.
//
// Only first attempts wait. If retries waited too, each further attempt of a delivery would have
// to pass once more.
func (s Settings) shed(w Counts) int {
	total := w.OK + w.Failed
	if total < s.Minimum || s.Rate >= 1 {
		return 0
	}
	failing := lowerBound(w.Failed, total)
	if failing < s.Rate {
		return 0
	}
	passes := (1 - failing) / (1 - s.Rate)
	return int(math.Ceil(100*(1-passes)/shedStep)) * shedStep
}
