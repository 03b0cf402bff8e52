package admission

import (
	"math"
	"time"

	"surehook.example/surehook/internal/hook"
)

// When a fast endpoint has a rate, its parked deliveries are sent through as many slots as the
// rate allows per second: a task waits for its rate slot for up to a second, the unit of the
// queue, and holds an in-flight slot meanwhile. A lease takes about 70 bytes of the limits, so
// there are at most 50 slots.
const (
	minDrainSlots = 20
	maxDrainSlots = 50
)

// Slots returns the highest number of in-flight slots of an endpoint of the class; 0: an attempt
// needs no slot.
func Slots(e *hook.Endpoint, c Class) int {
	switch {
	case e.MaxInFlight > 0:
		return e.MaxInFlight
	case c != Fast:
		return MaxSlots
	}
	return 0
}

// Width returns the highest number of slots through which parked deliveries are sent; 0: they
// are sent in waves, as for a coalescing endpoint, whose deliveries have no slot each.
func Width(e *hook.Endpoint, c Class) int {
	if e.Coalesce.On() {
		return 0
	}
	slots := Slots(e, c)
	if slots == 0 && e.RatePerSecond > 0 {
		return int(min(max(math.Ceil(e.RatePerSecond), minDrainSlots), maxDrainSlots))
	}
	return slots
}

// SlotsNow returns the slots that an endpoint has now, of the given highest number. The endpoint is
// not fast, and has been in its speed class since the given time. first is the number before the
// first answer.
//
// The number follows the answers: see Answered. In the first minute it is at most earlySlots,
// because a queue needs time to grow.
func (l Limits) SlotsNow(most, first int, since, now time.Time) int {
	if l.Slots > 0 && l.ScoreAt.Equal(since) {
		first = l.Slots
	}
	if now.Sub(since) < SlowRest {
		first = min(first, earlySlots)
	}
	return min(most, first)
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

// Grant is the answer to a task that asks for a slot.
type Grant uint8

// The grants.
const (
	Started Grant = iota + 1 // the task has the slot
	Running                  // the task already has the slot: the response to the earlier write was lost
	Taken                    // another task of the delivery, or a copy of the task, may be making the attempt
	Full                     // no slot is free
)

// Start begins the lease of a task, or takes over the lease that the sender of the task
// claimed, if the endpoint has fewer than most leases. Another lease of the same delivery means
// that another process may be making the attempt: the task is busy until that lease ends.
func (l Limits) Start(own Held, most int, now time.Time) (Limits, Grant) {
	live := l.Live(now)
	current, leased := live.Leases[own.Key]
	claimed := leased && current.Nonce == own.Nonce && current.Run == ""
	switch {
	case leased && current.same(own.Lease):
		return l, Running
	case leased && !claimed:
		return l, Taken
	case !leased && len(live.Leases) >= most:
		return l, Full
	}
	live.Most = most
	return live.Begin(own), Started
}

// Take gives the task a share if fewer than most are taken, and reports whether it has one. A copy
// of a task shares its place. Without a new place the limits stay as they are, because expired
// shares need not be written.
func (l Limits) Take(task Held, most int, now time.Time) (Limits, bool) {
	live := l.Live(now)
	if _, has := live.Leases[task.Key]; has || len(live.Leases) >= most {
		return l, has
	}
	live.Most = most
	return live.Begin(task), true
}
