package admission

import "time"

// Reserve reserves a rate slot at perSecond, and returns its time, not before now. Slots that
// were reserved at a lower rate count as reserved at this one, so a raised rate applies at once.
//
// Reserve is the generic cell rate algorithm (ITU-T I.371), but where that would refuse,
// Reserve reserves a later slot, and a delivery that comes back then need not ask again. The
// queue delays by whole seconds, so a slot less than half a second away counts as now:
// otherwise a delivery would wait a second for a slot that is a millisecond away.
func (l Limits) Reserve(perSecond float64, now time.Time) (next Limits, slot time.Time) {
	slot = l.RateSlot
	switch {
	case slot.Before(now):
		slot = now
	case l.Rate < perSecond:
		slot = now.Add(time.Duration(float64(slot.Sub(now)) * l.Rate / perSecond))
	}
	l.Rate = perSecond
	l.RateSlot = slot.Add(time.Duration(float64(time.Second) / perSecond)).Round(0)
	if slot.Sub(now) < nearSlot {
		slot = now
	}
	return l, slot
}

// MaxRateWait is how long a task waits for a reserved rate slot at most, but for one of a pace. If the next slot is
// later, the delivery is parked, so that a changed rate soon applies to everything.
const MaxRateWait = time.Minute

// nearSlot is the shortest wait for which a delivery is delayed: half of the second by which
// the queue delays.
const nearSlot = time.Second / 2

// Reserved returns how many deliveries wait for a reserved rate slot: the number of slots after
// now, up to the last reserved one. The slot of a delivery that has ended meanwhile still
// counts.
func (l Limits) Reserved(now time.Time) int {
	if l.Rate <= 0 || !l.RateSlot.After(now) {
		return 0
	}
	// RateSlot is the first free slot. The reserved slots precede it at equal intervals.
	interval := time.Duration(float64(time.Second) / l.Rate)
	return int((l.RateSlot.Sub(now) - 1) / interval)
}
