package circuit

import "math"

// configured returns the configured number of failures in a row.
func (s Settings) configured() int {
	if s.Fragile {
		return min(s.Failures, FragileFailures)
	}
	return s.Failures
}

// An endpoint without history counts as one that fails in 1 of 25 attempts.
const (
	priorFailures = 1
	priorAttempts = 25
)

// longestRow caps the row of failures that still counts as chance: about the one at an endpoint that fails in nine of
// ten attempts. An endpoint that fails more often is down. Only one that has failed as often for a while gets near it.
const longestRow = 150

// threshold returns the number of failures in a row that opens the circuit, given the counts at its
// first failures: the smallest number that is no more likely, at the failure rate before the row,
// than the configured number without history. The failure rate is the higher one of the window and
// of the current minute, because an endpoint may be half-healthy since a few seconds only.
//
// The configured number applies to an endpoint without a success: its failures may be of attempts
// in flight with the first one. It also applies until the first success after an outage.
func (c Circuit) threshold(window Counts, s Settings) int {
	n := s.configured()
	if window.OK == 0 || !c.OpenedAt.IsZero() {
		return n
	}
	rate := max(c.rateBefore(window.OK, window.Failed), c.rateBefore(window.LastOK, window.LastFailed))
	unlikely := math.Pow(float64(priorFailures)/priorAttempts, float64(n))
	for n < longestRow && math.Pow(rate, float64(n)) > unlikely {
		n++
	}
	return n
}

// rateBefore returns the failure rate before the row, with the attempts of an endpoint without
// history.
func (c Circuit) rateBefore(ok, failed int) float64 {
	failed = max(0, failed-c.Failures)
	return float64(failed+priorFailures) / float64(ok+failed+priorAttempts)
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
