package circuit

import (
	"math"
	"time"

	"surehook.example/surehook/internal/hook"
)

// rateApplies reports whether the window began after the last closing, so that it contains no
// failure of the last outage.
func (c Circuit) rateApplies(now time.Time) bool { return now.Sub(c.ClosedAt) >= Window }

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
const longestRow = 25

// row returns the number of failures in a row that opens the circuit, given the counts before
// the row: the smallest number that is no more likely, at the failure rate of the window, than
// the configured number without history. The configured number applies to a recovering
// endpoint, because its window contains the failures of the outage, and to an endpoint without
// a success, because its failures may be of attempts in flight with the first one.
func (c Circuit) row(before Counts, s Settings) int {
	n := s.threshold()
	if c.AtOnce > 0 || before.OK == 0 {
		return n
	}
	rate := float64(before.Failed+priorFailures) / float64(before.OK+before.Failed+priorAttempts)
	unlikely := math.Pow(float64(priorFailures)/priorAttempts, float64(n))
	for n < longestRow && math.Pow(rate, float64(n)) > unlikely {
		n++
	}
	return n
}

// mostAtOnce is the number of concurrent attempts above which a recovery is over: no endpoint
// can have a higher limit.
const mostAtOnce = hook.MaxMaxInFlight

// widened returns the limit of concurrent attempts after a batch in which the endpoint worked.
func widened(atOnce int) int {
	if atOnce *= 2; atOnce > mostAtOnce {
		return 0
	}
	return atOnce
}

// rateExceeded reports whether the share of failures reached the configured rate, and not by
// chance: the lower bound of its confidence interval did, or every attempt failed.
func (s Settings) rateExceeded(w Counts) bool {
	total := w.OK + w.Failed
	return total >= s.Minimum && (w.OK == 0 || lowerBound(w.Failed, total) >= s.Rate)
}

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
