package gate

import (
	"maps"
	"time"
)

// LeaseFor is the duration of a lease on an in-flight slot. An attempt and the
// settlement end within one invocation of function deliver, at most 60 seconds, so
// 2 minutes leave a reserve of 60 seconds. The slots of a killed process are free
// again after LeaseFor.
const LeaseFor = 2 * time.Minute

// Limits holds the reserved slots and the leases of an endpoint with a rate limit
// or an in-flight limit.
type Limits struct {
	RateSlot time.Time            // the first free rate slot
	Leases   map[string]time.Time // end of the lease by holder
	Version  int64                // of the stored record; 0: no record
}

// Reserve reserves n slots at perSecond and returns the times of the slots: in
// order, no time before now.
//
// Reserve is the generic cell rate algorithm (ITU-T I.371) without a burst. Where
// GCRA refuses, Reserve reserves a later slot: a delivery returning at the reserved
// time passes. Each delivery waits once, and the endpoint is paced, not polled.
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

// Lease leases in-flight slots to the holders in order, as long as fewer than limit
// slots are taken, and returns the number of successful holders. A holder with a
// slot keeps the slot with a renewed lease. Every lease ends at leaseEnd(now).
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
		leases[holder] = leaseEnd(now)
		granted++
	}
	l.Leases = leases
	return l, granted
}

// leaseEnd returns the end of a lease that begins now, in the precision of the store.
func leaseEnd(now time.Time) time.Time { return now.Add(LeaseFor).Truncate(time.Millisecond) }

// sharedAt reports whether a lease of the holder at now belongs to another receipt of
// the message. A lease with the end of a lease from now is an own write with a lost answer.
func (l Limits) sharedAt(holder string, now time.Time) bool {
	until := l.Leases[holder]
	return now.Before(until) && !until.Equal(leaseEnd(now))
}

// releaseUnshared ends the leases of the holders with the given end. A lease with
// another end was renewed by a copy of the message: the attempt of the copy may be in
// flight.
func (l Limits) releaseUnshared(holders []string, until time.Time) Limits {
	var own []string
	for _, holder := range holders {
		if l.Leases[holder].Equal(until) {
			own = append(own, holder)
		}
	}
	return l.Release(own)
}

// Release ends the leases of the holders.
func (l Limits) Release(holders []string) Limits {
	l.Leases = maps.Clone(l.Leases)
	for _, holder := range holders {
		delete(l.Leases, holder)
	}
	return l
}

// Reserved returns the number of deliveries that wait for a reserved rate slot: the
// slots after now up to the last reserved slot. A slot whose delivery has ended counts
// until the time of the slot.
func (l Limits) Reserved(perSecond float64, now time.Time) int {
	if perSecond <= 0 || !l.RateSlot.After(now) {
		return 0
	}
	// RateSlot is the first free slot. The slots before are at whole intervals back.
	interval := time.Duration(float64(time.Second) / perSecond)
	return int((l.RateSlot.Sub(now) - 1) / interval)
}

// InFlight returns the number of slots leased at now.
func (l Limits) InFlight(now time.Time) int {
	n := 0
	for _, until := range l.Leases {
		if now.Before(until) {
			n++
		}
	}
	return n
}
