package admission

import (
	"math"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
)

const (
	// FirstSlots is the number of in-flight slots of an endpoint that is not fast, before its first
	// answer. After an outage it begins with one.
	FirstSlots = 5
	// MaxSlots is the highest number of in-flight slots of an endpoint that is not fast.
	MaxSlots = hook.MaxMaxInFlight // 100
	// earlySlots is the highest number in the first minute of a speed class.
	earlySlots = 20
	// narrowEvery is the shortest time between two halvings of the slots: the default timeout of
	// an attempt.
	narrowEvery = hook.DefaultTimeout // 10 s
)

// When a fast endpoint has a rate, its parked deliveries are sent through as many slots as the
// rate allows per second, within these bounds: a task waits for its rate slot for up to a second, the unit of the
// queue, or longer at a low rate, and holds an in-flight slot meanwhile. A lease takes about 70 bytes of the limits, so
// these are at most 50.
const (
	minDrainSlots = 20
	maxDrainSlots = 50
)

// Four numbers of slots, from the endpoint's settings to the present moment:
//
//	MostSlots     for any attempt                                    0: attempts need no slot
//	Width         for parked deliveries: MostSlots, or by the rate   0: they are sent in waves
//	Limits.Slots  what the answers have opened since InitialSlots    0: no answer came yet
//	SlotsNow      the lowest of them now

// MostSlots returns the highest number of in-flight slots of the endpoint; 0: an attempt needs no
// slot.
func (r *Record) MostSlots(e *hook.Endpoint, now time.Time) int {
	switch {
	case e.MaxInFlight > 0:
		return e.MaxInFlight
	case !r.free(now):
		return MaxSlots
	}
	return 0
}

// free reports whether attempts need no slots by what the endpoint answers: it is fast, and its circuit not strained.
func (r *Record) free(now time.Time) bool { return r.SpeedAtNow(now) == Fast && !r.Strained(now) }

// Width returns the highest number of slots through which parked deliveries are sent; 0: they
// are sent in waves, as for a coalescing endpoint, whose deliveries have no slot each.
func (r *Record) Width(e *hook.Endpoint, now time.Time) int {
	if e.Coalesce.On() {
		return 0
	}
	slots := r.MostSlots(e, now)
	if rate := r.RateNow(e, now); slots == 0 && rate > 0 {
		return int(min(max(math.Ceil(rate), minDrainSlots), maxDrainSlots))
	}
	return slots
}

// Passes reports whether deliveries to the endpoint may start now: it is active, its circuit closed, and no hold of a
// 429 is in force.
func (r *Record) Passes(e *hook.Endpoint, now time.Time) bool {
	return e.Status == hook.StatusActive && r.State == circuit.Closed && !now.Before(r.ThrottledUntil)
}

// SlotsNow returns the slots that the endpoint has now, of the given highest number. If it is not fast, or its
// circuit is strained, the number follows its answers up to there: see Answered. In the first minute
// of a speed class it is at most earlySlots, because a queue needs time to grow.
func (r *Record) SlotsNow(l Limits, most int, now time.Time) int {
	if r.free(now) {
		return most
	}
	allowed := r.InitialSlots()
	if l.Slots > 0 && l.ScoreAt.Equal(r.SpeedAt) {
		allowed = l.Slots
	}
	if now.Sub(r.SpeedAt) < SlowRest {
		allowed = min(allowed, earlySlots)
	}
	return min(most, allowed)
}

// InitialSlots returns the number of slots before the first answer in the speed class: one if the
// class began with the end of an outage.
func (r *Record) InitialSlots() int {
	if r.Speed == Unproven && !r.ClosedAt.IsZero() && !r.ClosedAt.Before(r.SpeedAt) {
		return 1
	}
	return FirstSlots
}

// Answer is the result of an attempt that had a slot.
type Answer struct {
	Took  time.Duration // until the answer or the timeout
	Timed bool          // Took says something about the speed of the endpoint; a refused connection does not
	OK    bool          // the endpoint neither failed nor was throttled
}

// Answered returns the limits after an answer of an endpoint in the speed class that began at
// since. The score follows the time of the answer.
//
// The slots follow its success (additive increase and multiplicative decrease: D.-M. Chiu and
// R. Jain, Analysis of the increase and decrease algorithms for congestion avoidance in computer
// networks, Computer Networks and ISDN Systems 17, 1989). A success adds one, or doubles fewer
// than FirstSlots. A failure halves them, but only once in narrowEvery: attempts in flight
// together fail together, and an endpoint with a third of failures still has two thirds of
// successes.
func (l Limits) Answered(a Answer, first int, since, now time.Time) Limits {
	if !l.ScoreAt.Equal(since) || l.Slots == 0 {
		l.Slots, l.NarrowedAt = first, time.Time{}
	}
	if !l.ScoreAt.Equal(since) {
		l.Score, l.ScoreAt = 0, since
	}
	if a.Timed {
		l.Score = l.Score.Add(a.Took)
	}
	switch {
	case a.OK && l.Slots < FirstSlots:
		l.Slots = min(2*l.Slots, FirstSlots)
	case a.OK:
		l.Slots = min(l.Slots+1, MaxSlots)
	case now.Sub(l.NarrowedAt) >= narrowEvery:
		l.Slots, l.NarrowedAt = max(l.Slots/2, 1), now.UTC().Truncate(time.Millisecond)
	}
	return l
}
