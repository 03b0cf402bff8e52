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
// spare. If a process is killed, its slots are free again after LeaseFor. Its tasks come back later
// than that, after the visibility timeout of six minutes. By then, a parked delivery may have had a slot by another task.
const LeaseFor = 2 * time.Minute

// Lease is an in-flight slot or a share that a task holds. The lease of a probe stands in the circuit.
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
		if l.contains(h) {
			delete(l.Leases, h.Key)
		}
	}
	return l
}

// contains reports whether the limits have the lease, perhaps with another end.
func (l Limits) contains(h Held) bool {
	lease := l.Leases[h.Key]
	return lease.Nonce == h.Nonce && lease.Run == h.Run
}

// Reclaim returns the limits with the held leases as claims: their attempts are over, and their tasks come again.
func (l Limits) Reclaim(held ...Held) Limits {
	l.Leases = maps.Clone(l.Leases)
	for _, h := range held {
		if l.contains(h) {
			l.Leases[h.Key] = Lease{Nonce: h.Nonce, Until: l.Leases[h.Key].Until}
		}
	}
	return l
}

// InFlight returns the number of slots in use at now.
func (l Limits) InFlight(now time.Time) int { return len(l.Live(now).Leases) }

// Grant is the answer to a task that asks for a slot.
type Grant uint8

// The grants.
const (
	Started Grant = iota + 1 // the task has the slot
	Running                  // the task already has the slot: the response to the earlier write was lost
	Taken                    // another task of the delivery, or a copy of the task, may be making the attempt
	Full                     // no slot is free
)

// Start takes over a claim of the delivery, or begins a lease of the task if the endpoint has fewer than
// most leases. The claim may be that of a later task: while the queue lags, a claim expires before its
// task arrives, and the slot is claimed anew. Any other lease of the delivery means that another process
// may be making the attempt: the task is busy until that lease ends.
func (l Limits) Start(own Held, most int, now time.Time) (Limits, Grant) {
	live := l.Live(now)
	current, leased := live.Leases[own.Key]
	claimed := leased && current.Run == ""
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
// of a task has the same share. Without a new one the limits stay as they are, because expired
// shares need not be written.
func (l Limits) Take(task Held, most int, now time.Time) (Limits, bool) {
	live := l.Live(now)
	if _, has := live.Leases[task.Key]; has || len(live.Leases) >= most {
		return l, has
	}
	live.Most = most
	return live.Begin(task), true
}
