package gate

import (
	"maps"
	"time"
)

// LeaseFor is how long an attempt holds its place among those in flight unless
// it gives it back: longer than any attempt can last and be settled in, so that
// what a killed process held is free again after this.
const LeaseFor = 2 * time.Minute

// Limits is what an endpoint with a rate or an in-flight limit has given out.
type Limits struct {
	RateSlot time.Time            // the first time at which the rate has room
	Leases   map[string]time.Time // who is in flight, and until when at most
	Version  int64                // of the stored record; 0 when there is none
}

// Reserve takes n slots at perSecond and returns when each of them is: in turn,
// none before now. It is the generic cell rate algorithm (ITU-T I.371) without
// a burst, and reserves where that would refuse: who comes back at the time it
// was given passes, so each waits once and the endpoint is paced, not polled.
func (l Limits) Reserve(n int, perSecond float64, now time.Time) (next Limits, slots []time.Time) {
	interval := time.Duration(float64(time.Second) / perSecond)
	at := l.RateSlot
	if at.Before(now) {
		at = now
	}
	for range n {
		slots = append(slots, at)
		at = at.Add(interval)
	}
	l.RateSlot = at
	return l, slots
}

// Lease gives those of the holders a place who fit under limit, in their order, and
// returns how many that are. A holder who has a place keeps it.
func (l Limits) Lease(holders []string, limit int, now time.Time) (next Limits, granted int) {
	leases := make(map[string]time.Time, len(l.Leases)+len(holders))
	for holder, until := range l.Leases {
		if now.Before(until) {
			leases[holder] = until
		}
	}
	for _, holder := range holders {
		if _, has := leases[holder]; !has && len(leases) >= limit {
			break
		}
		leases[holder] = now.Add(LeaseFor)
		granted++
	}
	l.Leases = leases
	return l, granted
}

// Release gives the holders' places back.
func (l Limits) Release(holders []string) Limits {
	l.Leases = maps.Clone(l.Leases)
	for _, holder := range holders {
		delete(l.Leases, holder)
	}
	return l
}

// InFlight returns how many places are taken now.
func (l Limits) InFlight(now time.Time) int {
	n := 0
	for _, until := range l.Leases {
		if now.Before(until) {
			n++
		}
	}
	return n
}
