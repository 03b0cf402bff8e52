package admission

import "time"

// Limits are the in-flight slots in use, the reserved rate slots and the proof of speed of an
// endpoint. The shares of a tenant in the queue slot are Limits of their own, with nothing but
// leases.
type Limits struct {
	Most       int              // of a write that adds leases: how many there may be afterwards; with more the store refuses the write
	Leases     map[string]Lease `stored:"leases"`                   // by LeaseKey
	RateSlot   time.Time        `stored:"rate_slot_ns,nanoseconds"` // the first free rate slot
	Rate       float64          `stored:"rate"`                     // the rate per second at which slots were reserved
	Score      Score            `stored:"score"`                    // of the answers in the speed class that began at ScoreAt
	ScoreAt    time.Time        `stored:"score_at"`                 // the SpeedAt of the circuit record when the score began
	Slots      int              `stored:"slots"`                    // that the answers since ScoreAt allow an endpoint that is not fast; 0: none came yet
	NarrowedAt time.Time        `stored:"narrowed_at"`              // when a failure last halved Slots; zero: never
	Late       int              `stored:"late"`                     // late attempts in the minute of LateAt
	LateAt     time.Time        `stored:"late_at"`                  // the start of a minute; zero: none
}

// Delta is the difference between two states of limits.
type Delta struct {
	Removed  map[string]Lease // as before
	Changed  map[string]Lease // as after; the key had another lease before
	Added    map[string]Lease
	RateSlot bool // RateSlot and Rate differ
	Score    bool // Score, ScoreAt, Slots and NarrowedAt differ
	Late     bool // Late and LateAt differ
}

// Empty reports whether nothing differs.
func (d Delta) Empty() bool {
	return len(d.Removed)+len(d.Changed)+len(d.Added) == 0 && !d.RateSlot && !d.Score && !d.Late
}

// To returns the difference between l and after.
func (l Limits) To(after Limits) Delta {
	d := Delta{
		Removed: make(map[string]Lease), Changed: make(map[string]Lease), Added: make(map[string]Lease),
		RateSlot: !l.RateSlot.Equal(after.RateSlot) || l.Rate != after.Rate,
		Score:    l.Score != after.Score || !l.ScoreAt.Equal(after.ScoreAt) || l.Slots != after.Slots || !l.NarrowedAt.Equal(after.NarrowedAt),
		Late:     l.Late != after.Late || !l.LateAt.Equal(after.LateAt),
	}
	for key, lease := range l.Leases {
		switch next, has := after.Leases[key]; {
		case !has:
			d.Removed[key] = lease
		case !next.same(lease):
			d.Changed[key] = next
		}
	}
	for key, lease := range after.Leases {
		if _, had := l.Leases[key]; !had {
			d.Added[key] = lease
		}
	}
	return d
}
