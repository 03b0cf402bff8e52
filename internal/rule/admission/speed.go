package admission

import (
	"time"

	"surehook.example/surehook/internal/hook"
)

// Class is the speed class of an endpoint. The Score of its answers makes it fast: see Promoted.
// Late attempts within a minute, less those that a Credit forgives, make it slow: see Slowed.
type Class uint8

// The classes. The zero Class is not valid.
const (
	Unproven Class = iota + 1 // new, without an attempt for a week, or after an outage: too few answers to judge
	Fast                      // proved by its answers: about 95 % took less than LateAfter
	Slow                      // too many attempts took LateAfter or longer
)

// String returns the class as it appears in the API, in the store and in logs.
func (c Class) String() string {
	return hook.Names[Class]{Unproven: "unproven", Fast: "fast", Slow: "slow"}.Of(c)
}

const (
	// LateAfter is the duration from which on an attempt is late.
	LateAfter = time.Second
	// MaxLate is the number of late attempts in a clock minute that make a fast endpoint slow.
	MaxLate = 5
	// SlowRest is the shortest time for which an endpoint stays slow.
	SlowRest = time.Minute
	// Silence is the time without an attempt after which a fast endpoint is unproven.
	Silence = 7 * 24 * time.Hour
	// SeenEvery is the precision of the time of the last attempt, which is written once a day. So an
	// endpoint is unproven after 7 to 8 days without an attempt.
	SeenEvery = 24 * time.Hour
)

// SpeedAtNow returns the speed class in force: slow if the review says so, and unproven after a
// week without an attempt.
func (r *Record) SpeedAtNow(now time.Time) Class {
	switch {
	case r.Review.Slow:
		return Slow
	case r.Speed == Fast && r.silent(now):
		return Unproven
	}
	return r.Speed
}

func (r *Record) silent(now time.Time) bool {
	return now.Sub(r.SeenAt) > Silence+SeenEvery
}

// Slowed returns the record after MaxLate late attempts in a minute.
func (r Record) Slowed(now time.Time) Record {
	if r.Speed != Fast {
		return r
	}
	return r.withClass(Slow, now)
}

// FullWave is the first wave of a release with as many deliveries as a wave can have.
const FullWave = 10

// Promoted returns the record with the class fast, if the score proves the speed. Then a full wave
// of its waiting deliveries is due, unless it still has slots ([Record.Width]).
func (r Record) Promoted(l Limits, now time.Time) Record {
	rested := r.Speed != Slow || now.Sub(r.SpeedAt) >= SlowRest
	if r.Speed == Fast || !rested || !l.Score.Proven(l.late(now)) || !l.ScoreAt.Equal(r.SpeedAt) {
		return r
	}
	r = r.withClass(Fast, now)
	if r.Backlog() {
		r.Wave = FullWave
		r = r.planCheck(now)
	}
	return r
}

// seen returns the record after attempts that were made now.
func (r Record) seen(now time.Time) Record {
	switch {
	case r.Speed != Fast:
		return r
	case r.silent(now):
		return r.withClass(Unproven, now)
	case now.Sub(r.SeenAt) > SeenEvery:
		r.SeenAt = now.UTC().Truncate(time.Millisecond)
	}
	return r
}

// proof is the score that makes an endpoint fast: 20 answers in time in a row, from a score of
// 0.
const proof = 20

// latePenalty is what a late answer takes off the score. With one late answer in 20 the score
// stays the same on average: 19 x 1 - 1 x 19. So it falls if more than 5 % of the answers are late,
// and rises if fewer are.
const latePenalty = 19

// Five late answers from no score lead to leastScore, and five from mostScore leave a proof: so an endpoint with a late
// answer in 200 and hundreds of answers a second becomes fast although some late ones are always in flight.
const leastScore, mostScore = -5 * latePenalty, proof + 5*latePenalty

// Score counts answers in time as +1 and late ones as -latePenalty.
type Score int

// Add returns the score after an answer, or after a timeout, of the given duration.
func (s Score) Add(took time.Duration) Score {
	if took >= LateAfter {
		return max(s-latePenalty, leastScore)
	}
	return min(s+1, mostScore)
}

// Proven reports whether the score makes an endpoint fast that has so many late attempts in flight. They count as late
// answers, because of attempts that begin together the quick answers come first.
func (s Score) Proven(inFlight int) bool { return s-Score(inFlight)*latePenalty >= proof }

// late returns the number of attempts with a slot that have been in flight for LateAfter.
func (l Limits) late(now time.Time) (n int) {
	for _, lease := range l.Leases {
		if lease.Run != "" && !LeaseEnd(now.Add(-LateAfter)).Before(lease.Until) {
			n++
		}
	}
	return n
}

// CountLate returns the limits with n more late attempts in the minute of now.
func (l Limits) CountLate(n int, now time.Time) Limits {
	if minute := now.UTC().Truncate(time.Minute); !l.LateAt.Equal(minute) {
		l.Late, l.LateAt = 0, minute
	}
	l.Late += n
	return l
}

// lateCost is the number of answers in time that forgive one late attempt: one in 20 may be
// late, as for the proof of speed.
const lateCost = 20

// maxCredit limits the credit to 3 late attempts, so that an endpoint that hangs is noticed
// only a few attempts later than without credit.
const maxCredit = 3 * lateCost

// Credit is the number of answers in time that one process saw within the last seconds from one fast
// endpoint, up to maxCredit. It forgives late attempts. Without it, a busy endpoint with one late
// answer in 200 would become slow: at 180 events a second these are 54 late attempts a minute.
type Credit int

// Earn returns the credit after n more answers in time.
func (c Credit) Earn(n int) Credit { return min(c+Credit(n), maxCredit) }

// Forgive returns the credit that is left after late attempts, and how many of them it does not cover.
func (c Credit) Forgive(late int) (next Credit, left int) {
	forgiven := min(late, int(c/lateCost))
	return c - Credit(forgiven*lateCost), late - forgiven
}
