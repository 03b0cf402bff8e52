package circuit

import (
	"math"
	"time"
)

func (s Settings) threshold() int {
	if s.Slow {
		return min(s.Failures, SlowFailures)
	}
	return s.Failures
}

// An endpoint without history counts as one that fails in 1 of 25 attempts.
const (
	priorFailures = 1
	priorAttempts = 25
)

// longestRow caps the row of failures that still counts as chance, whatever the history.
const longestRow = 40

// row returns the number of failures in a row that opens the circuit, given the counts before
// the row: the smallest number that is no more likely, at the failure rate of the window, than
// the configured number without history.
//
// The configured number applies to an endpoint without a success, because its failures may be
// of attempts in flight with the first one. It also applies soon after an outage, whose failures
// the window contains, unless the circuit flaps: then chance explains them better than outages.
func (c Circuit) row(before Counts, s Settings, now time.Time) int {
	n := s.threshold()
	if before.OK == 0 || c.recovering(now) && !c.Flapping {
		return n
	}
	rate := float64(before.Failed+priorFailures) / float64(before.OK+before.Failed+priorAttempts)
	unlikely := math.Pow(float64(priorFailures)/priorAttempts, float64(n))
	for n < longestRow && math.Pow(rate, float64(n)) > unlikely {
		n++
	}
	return n
}

// allFailed reports whether every attempt of the window failed, and there were enough of them.
// Attempts in flight together count once in a row, so an endpoint that never answered may have
// no row.
func (s Settings) allFailed(w Counts) bool { return w.OK == 0 && w.Failed >= s.Minimum }

// confidence is the quantile of the normal distribution for a 95 % interval.
const confidence = 1.96

// lowerBound returns the lower bound of the share of n in total, by Wilson's score interval
// (E. B. Wilson, Probable inference, the law of succession, and statistical inference,
// Journal of the American Statistical Association 22, 1927).
func lowerBound(n, total int) float64 {
	const z2 = confidence * confidence
	of := float64(total)
	p := float64(n) / of
	return (p + z2/(2*of) - confidence*math.Sqrt((p*(1-p)+z2/(4*of))/of)) / (1 + z2/of)
}
