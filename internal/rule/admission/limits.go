package admission

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"surehook.example/surehook/internal/hook"
)

// LeaseFor is how long a lease on an in-flight slot lasts. An attempt and its settlement end
// within one invocation of function deliver, at most 60 seconds, which leaves 60 seconds to
// spare. If a process is killed, its slots are free again after LeaseFor.
const LeaseFor = 2 * time.Minute

// Lease is an in-flight slot that a task holds.
type Lease struct {
	Nonce string    // of the task
	Until time.Time // the end of the lease, in milliseconds
	Run   string    // random, of the attempt that uses the slot; empty: a claim, whose task is still on its way
}

// MarshalText returns the stored form: the end in milliseconds, the nonce, and the run or nothing.
// The text is a third of the size of a map.
func (a Lease) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%d %s %s", a.Until.UnixMilli(), a.Nonce, a.Run), nil
}

// UnmarshalText is the inverse of MarshalText.
func (a *Lease) UnmarshalText(text []byte) error {
	parts := strings.Split(string(text), " ")
	if len(parts) != 3 {
		return fmt.Errorf("read lease %q: %d parts", text, len(parts))
	}
	until, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil {
		return fmt.Errorf("read lease %q: %w", text, err)
	}
	*a = Lease{Until: time.UnixMilli(until).UTC(), Nonce: parts[1], Run: parts[2]}
	return nil
}

// same reports whether a and b are one state of a lease.
func (a Lease) same(b Lease) bool {
	return a.Nonce == b.Nonce && a.Run == b.Run && a.Until.Equal(b.Until)
}

// Limits are the in-flight slots in use, the reserved rate slots and the proof of speed of an
// endpoint. The shares of a tenant in the queue slot are Limits of their own, with nothing but
// leases.
type Limits struct {
	Most       int              // of writes only: the leases that there may be if the write adds one
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

// Held is a lease with its key.
type Held struct {
	Key string
	Lease
}

// LeaseKey returns the key of the delivery's lease. There is one key per delivery, so two
// tasks of a delivery cannot make attempts at the same time. The key leaves out the endpoint,
// because the limits belong to one endpoint.
func LeaseKey(d hook.DeliveryID) string {
	return strings.TrimPrefix(string(d.Event), "evt_") + "_" + strconv.Itoa(d.Generation)
}

// LeaseEnd returns the end of a lease that begins at the time, in milliseconds as stored.
func LeaseEnd(at time.Time) time.Time { return at.Add(LeaseFor).UTC().Truncate(time.Millisecond) }

// Live returns the limits without the leases that have ended by now.
func (l Limits) Live(now time.Time) Limits {
	l.Leases = maps.Clone(l.Leases)
	maps.DeleteFunc(l.Leases, func(_ string, lease Lease) bool { return !now.Before(lease.Until) })
	return l
}

// Begin returns the limits with the lease added. The result shares no map with l.
func (l Limits) Begin(h Held) Limits {
	l.Leases = maps.Clone(l.Leases)
	if l.Leases == nil {
		l.Leases = make(map[string]Lease, 1)
	}
	l.Leases[h.Key] = h.Lease
	return l
}

// End returns the limits without the held leases. It keeps a lease of another task, and a
// lease that another process started, because a copy of the task may be making the attempt
// there.
func (l Limits) End(held ...Held) Limits {
	l.Leases = maps.Clone(l.Leases)
	for _, h := range held {
		if lease := l.Leases[h.Key]; lease.Nonce == h.Nonce && lease.Run == h.Run {
			delete(l.Leases, h.Key)
		}
	}
	return l
}

// Reserve reserves a rate slot at perSecond, and returns its time, not before now. Slots that
// were reserved at another rate are given up, so a changed rate applies at once.
//
// Reserve is the generic cell rate algorithm (ITU-T I.371), but where that would refuse,
// Reserve reserves a later slot, and a delivery that comes back then need not ask again. The
// queue delays by whole seconds, so a slot less than half a second away counts as now:
// otherwise a delivery would wait a second for a slot that is a millisecond away.
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

// MaxRateWait is how long a task waits for a reserved rate slot at most. If the next slot is
// later, the delivery is parked, so that a changed rate soon applies to everything.
const MaxRateWait = time.Minute

// nearSlot is the shortest wait for which a delivery is delayed: half of the second by which
// the queue delays.
const nearSlot = time.Second / 2

// Reserved returns how many deliveries wait for a reserved rate slot: the number of slots after
// now, up to the last reserved one. The slot of a delivery that has ended meanwhile still
// counts.
func (l Limits) Reserved(perSecond float64, now time.Time) int {
	if perSecond <= 0 || l.Rate != perSecond || !l.RateSlot.After(now) {
		return 0
	}
	// RateSlot is the first free slot. The reserved slots precede it at equal intervals.
	interval := time.Duration(float64(time.Second) / perSecond)
	return int((l.RateSlot.Sub(now) - 1) / interval)
}

// InFlight returns the number of slots in use at now.
func (l Limits) InFlight(now time.Time) int { return len(l.Live(now).Leases) }

// CountLate returns the limits with n more late attempts in the minute of now.
func (l Limits) CountLate(n int, now time.Time) Limits {
	if minute := now.UTC().Truncate(time.Minute); !l.LateAt.Equal(minute) {
		l.Late, l.LateAt = 0, minute
	}
	l.Late += n
	return l
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
