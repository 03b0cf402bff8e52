package isolation

import (
	"math"
	"time"

	"surehook/internal/hook"
)

// The parked deliveries of a fast endpoint with a rate are sent in as many slots as the
// rate has deliveries a second: a token waits for its rate slot for up to a second, the
// unit of the queue, and holds an in-flight slot meanwhile. The limits hold each lease in
// about 70 bytes, so the slots are at most 50.
const (
	minDrainSlots = 20
	maxDrainSlots = 50
)

// Slots returns the number of in-flight slots of an endpoint of the class; 0: an attempt
// needs no slot. atOnce is the number of slots of a recovering endpoint; 0: it has all.
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

// Width returns the number of slots in which parked deliveries are sent; 0: in waves. The
// deliveries of a coalescing endpoint have no slot each, and are sent in waves.
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
	Running                  // the token has the slot already: the answer to the write was lost
	Busy                     // another token of the delivery, or a copy of the token, may make the attempt
	Full                     // no slot is free
)

// Start begins the lease of a token, or starts the lease that the sender of the token
// claimed, if the endpoint has fewer than most leases. An earlier lease of the delivery
// means that another process may make the attempt: the token is busy until the lease ends.
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

// Take takes places for tokens, as long as fewer than most are taken, and reports which
// tokens have a place. A copy of a token shares the place. Without a new place the limits
// stay as they are: the end of other places needs no write.
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
