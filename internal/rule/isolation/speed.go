package isolation

import "time"

// Class is the speed class of an endpoint.
type Class uint8

// The classes. The zero Class is not valid.
const (
	Unproven Class = iota + 1 // new, silent for long, or after an outage: too few answers to judge
	Fast                      // at least 95 % of the last answers took less than LateAfter
	Slow                      // many attempts took longer than LateAfter
)

// String returns the class as it appears in the API, in the store and in logs.
func (c Class) String() string {
	switch c {
	case Unproven:
		return "unproven"
	case Fast:
		return "fast"
	case Slow:
		return "slow"
	}
	return "unknown"
}

const (
	// SlowSlots is the number of in-flight slots of an endpoint that is not fast.
	SlowSlots = 5
	// LateAfter is the duration from which an attempt is late.
	LateAfter = time.Second
	// MaxLate is the number of late attempts in a minute that make a fast endpoint slow.
	MaxLate = 5
	// SlowRest is the least time between slow and fast.
	SlowRest = time.Minute
	// Silence is the time without an attempt after which a fast endpoint is unproven.
	Silence = 7 * 24 * time.Hour
	// SeenEvery is the precision of the time of the last attempt. One write a day keeps
	// the time, so Silence is 7 to 8 days.
	SeenEvery = 24 * time.Hour
)

// proof is the score that makes an endpoint fast: 20 answers in time in a row.
const proof = 20

// latePenalty is the loss of score by a late answer. With one late answer in 20, the
// mean of the score's change is zero: 19 x 1 - 1 x 19. So the score of an endpoint with
// a 95th percentile above LateAfter falls, and of any other endpoint rises.
const latePenalty = 19

// leastScore bounds the score: after 5 late answers, more late answers add nothing.
const leastScore = -5 * latePenalty

// Score is the balance of answers in time and late answers.
type Score int

// Add returns the score after an answer, or after a timeout, of the given duration.
func (s Score) Add(took time.Duration) Score {
	if took >= LateAfter {
		return max(s-latePenalty, leastScore)
	}
	return min(s+1, proof)
}

// Proven reports whether the score makes an endpoint fast.
func (s Score) Proven() bool { return s >= proof }

// lateCost is the number of answers in time that forgive one late attempt: as for a
// proof, one in 20 may be late.
const lateCost = 20

// maxCredit bounds the credit to 3 late attempts, so that an endpoint that hangs is
// found a few attempts later than without credit.
const maxCredit = 3 * lateCost

// Credit is the answers in time of one fast endpoint that one process saw lately. The
// credit forgives late attempts. Batches are often of one or two attempts, so a share of
// the batch alone would find an endpoint slow whose 1 in 200 answers takes long.
type Credit int

// Earn returns the credit after n more answers in time.
func (c Credit) Earn(n int) Credit { return min(c+Credit(n), maxCredit) }

// Forgive returns the credit after late attempts, and the number of late attempts left.
func (c Credit) Forgive(late int) (next Credit, left int) {
	forgiven := min(late, int(c/lateCost))
	return c - Credit(forgiven*lateCost), late - forgiven
}
