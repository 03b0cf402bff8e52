package isolation

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"surehook/internal/hook"
)

// LeaseFor is the duration of a lease on an in-flight slot. An attempt and the
// settlement end within one invocation of function deliver, at most 60 seconds, so
// 2 minutes leave a reserve of 60 seconds. The slots of a killed process are free
// again after LeaseFor.
const LeaseFor = 2 * time.Minute

// Lease is an in-flight slot in use by a token.
type Lease struct {
	Nonce string    // of the token
	Until time.Time // the end of the lease, in milliseconds
	Run   string    // of the process with the token; empty: the token is on its way
}

// same reports whether a and b are one state of a lease.
func (a Lease) same(b Lease) bool {
	return a.Nonce == b.Nonce && a.Run == b.Run && a.Until.Equal(b.Until)
}

// Limits holds the in-flight slots, the reserved rate slots and the proof of speed of
// an endpoint. A tenant has Limits of its own for its places in the lane slot.
type Limits struct {
	Leases   map[string]Lease // by LeaseKey
	RateSlot time.Time        // the first free rate slot
	Rate     float64          // events per second of the reserved slots
	Score    Score            // of the answers since ScoreAt
	ScoreAt  time.Time        // the SpeedAt of the record when the score began
	Late     int              // late attempts in the minute of LateAt
	LateAt   time.Time        // the begin of a minute; zero: none
}

// Held is a lease with its key.
type Held struct {
	Key string
	Lease
}

// LeaseKey returns the key of the delivery's lease. One key per delivery: of two tokens
// of a delivery one makes an attempt at a time. The endpoint of the record completes
// the key, so the key leaves the endpoint out.
func LeaseKey(d hook.DeliveryID) string {
	return strings.TrimPrefix(string(d.Event), "evt_") + "_" + strconv.Itoa(d.Generation)
}

// LeaseEnd returns the end of a lease that begins at the time, in the precision of the store.
func LeaseEnd(at time.Time) time.Time { return at.Add(LeaseFor).Truncate(time.Millisecond) }

// Live returns the limits without the leases that have ended by now.
func (l Limits) Live(now time.Time) Limits {
	l.Leases = maps.Clone(l.Leases)
	maps.DeleteFunc(l.Leases, func(_ string, lease Lease) bool { return !now.Before(lease.Until) })
	return l
}

// Begin returns the limits with the lease. The result shares no leases with l.
func (l Limits) Begin(h Held) Limits {
	l.Leases = maps.Clone(l.Leases)
	if l.Leases == nil {
		l.Leases = make(map[string]Lease, 1)
	}
	l.Leases[h.Key] = h.Lease
	return l
}

// End returns the limits without the held leases. A lease of another token stays, and a
// lease that another process started: a copy of the token may make the attempt.
func (l Limits) End(held ...Held) Limits {
	l.Leases = maps.Clone(l.Leases)
	for _, h := range held {
		if lease := l.Leases[h.Key]; lease.Nonce == h.Nonce && lease.Run == h.Run {
			delete(l.Leases, h.Key)
		}
	}
	return l
}

// Reserve reserves a slot at perSecond and returns the time of the slot, not before
// now. Slots reserved at another rate are free again: a changed rate applies at once.
//
// Reserve is the generic cell rate algorithm (ITU-T I.371). Where GCRA refuses, Reserve
// reserves a later slot: a delivery returning at the reserved time passes. So the endpoint
// is paced, not polled. The queue delays by whole seconds, so a slot within the next half
// second is now: otherwise a delivery would wait a second for a slot a millisecond away.
func (l Limits) Reserve(perSecond float64, now time.Time) (next Limits, slot time.Time) {
	slot = l.RateSlot
	if slot.Before(now) || l.Rate != perSecond {
		slot = now
	}
	l.Rate = perSecond
	l.RateSlot = slot.Add(time.Duration(float64(time.Second) / perSecond)).Round(0)
	if slot.Sub(now) < nearSlot {
		slot = now
	}
	return l, slot
}

// MaxRateWait is the longest wait of a token for a reserved rate slot. A delivery with
// a longer wait is parked, so a changed rate soon applies to all.
const MaxRateWait = time.Minute

// nearSlot is the wait from which a delivery waits for its rate slot: half of the second in
// which the queue delays.
const nearSlot = time.Second / 2

// Reserved returns the number of deliveries that wait for a reserved rate slot: the
// slots after now up to the last reserved slot. A slot whose delivery has ended counts
// until the time of the slot.
func (l Limits) Reserved(perSecond float64, now time.Time) int {
	if perSecond <= 0 || l.Rate != perSecond || !l.RateSlot.After(now) {
		return 0
	}
	// RateSlot is the first free slot. The slots before are at whole intervals back.
	interval := time.Duration(float64(time.Second) / perSecond)
	return int((l.RateSlot.Sub(now) - 1) / interval)
}

// InFlight returns the number of slots in use at now.
func (l Limits) InFlight(now time.Time) int { return len(l.Live(now).Leases) }

// Answered returns the limits with an answer counted for the class that began at since.
func (l Limits) Answered(took time.Duration, since time.Time) Limits {
	if !l.ScoreAt.Equal(since) {
		l.Score, l.ScoreAt = 0, since
	}
	l.Score = l.Score.Add(took)
	return l
}

// CountLate returns the limits with n late attempts more in the minute of now.
func (l Limits) CountLate(n int, now time.Time) Limits {
	if minute := now.UTC().Truncate(time.Minute); !l.LateAt.Equal(minute) {
		l.Late, l.LateAt = 0, minute
	}
	l.Late += n
	return l
}

// Delta is the change from one state of limits to another.
type Delta struct {
	Removed  map[string]Lease // as before
	Changed  map[string]Lease // as after, with an older lease of the key
	Added    map[string]Lease
	RateSlot bool // RateSlot and Rate differ
	Score    bool // Score and ScoreAt differ
	Late     bool // Late and LateAt differ
}

// Empty reports whether nothing differs.
func (d Delta) Empty() bool {
	return len(d.Removed)+len(d.Changed)+len(d.Added) == 0 && !d.RateSlot && !d.Score && !d.Late
}

// To returns the change from l to after.
func (l Limits) To(after Limits) Delta {
	d := Delta{
		Removed: make(map[string]Lease), Changed: make(map[string]Lease), Added: make(map[string]Lease),
		RateSlot: !l.RateSlot.Equal(after.RateSlot) || l.Rate != after.Rate,
		Score:    l.Score != after.Score || !l.ScoreAt.Equal(after.ScoreAt),
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
