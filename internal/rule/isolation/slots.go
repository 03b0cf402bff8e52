package isolation

import (
	"math"
	"time"

	"surehook.example/surehook/internal/hook"
)

// When a fast endpoint has a rate, its parked deliveries are sent through as many slots as the
// rate allows per second: a token waits for its rate slot for up to a second, the unit of the
// queue, and holds an in-flight slot meanwhile. A lease takes about 70 bytes of the limits, so
// there are at most 50 slots.
const (
	minDrainSlots = 20
	maxDrainSlots = 50
)

// Slots returns the number of in-flight slots of an endpoint of the class; 0: an attempt needs
// no slot. atOnce limits the slots of a recovering endpoint; 0: it does not.
func Slots(e *hook.Endpoint, c Class, atOnce int) int {
	slots := 0
	switch {
	case e.MaxInFlight > 0:
		slots = e.MaxInFlight
	case c != Fast:
		slots = SlowSlots
	}
	if atOnce > 0 && (slots == 0 || atOnce < slots) {
		return atOnce
	}
	return slots
}

// Width returns the number of slots through which parked deliveries are sent; 0: they are sent
// in waves, as for a coalescing endpoint, whose deliveries have no slot each.
func Width(e *hook.Endpoint, c Class, atOnce int) int {
	if e.Coalesce.On() {
		return 0
	}
	slots := Slots(e, c, atOnce)
	if slots == 0 && e.RatePerSecond > 0 {
		return int(min(max(math.Ceil(e.RatePerSecond), minDrainSlots), maxDrainSlots))
	}
	return slots
}

// Grant is the answer to a token that asks for a slot.
type Grant uint8

// The grants.
const (
	Started Grant = iota + 1 // the token has the slot
	Running                  // the token already has the slot: the response to the earlier write was lost
	Busy                     // another token of the delivery, or a copy of the token, may be making the attempt
	Full                     // no slot is free
)

// Start begins the lease of a token, or takes over the lease that the sender of the token
// claimed, if the endpoint has fewer than most leases. Another lease of the same delivery means
// that another process may be making the attempt: the token is busy until that lease ends.
func (l Limits) Start(own Held, most int, now time.Time) (Limits, Grant) {
	live := l.Live(now)
	current, leased := live.Leases[own.Key]
	claimed := leased && current.Nonce == own.Nonce && current.Run == ""
	switch {
	case leased && current.same(own.Lease):
		return l, Running
	case leased && !claimed:
		return l, Busy
	case !leased && len(live.Leases) >= most:
		return l, Full
	}
	return live.Begin(own), Started
}

// Take gives the tokens places, as long as fewer than most are taken, and reports which tokens
// have one. A copy of a token shares its place. If no place is taken, the limits stay as they
// are, because expired places need not be written.
func (l Limits) Take(tokens []Held, most int, now time.Time) (Limits, []bool) {
	next, has, taken := l.Live(now), make([]bool, len(tokens)), false
	for i, token := range tokens {
		_, has[i] = next.Leases[token.Key]
		if !has[i] && len(next.Leases) < most {
			has[i], taken = true, true
			next = next.Begin(token)
		}
	}
	if !taken {
		return l, has
	}
	return next, has
}
