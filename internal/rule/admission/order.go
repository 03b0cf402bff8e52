package admission

import (
	"cmp"
	"slices"
	"time"

	"surehook.example/surehook/internal/hook"
)

// After an outage one parked delivery goes first, as the probe ([Likeliest]), and then the others in one order ([Order]),
// of the oldest that were listed: through slots; but in waves, if the endpoint coalesces, and from when it is fast
// again, without max_in_flight or a rate. At an endpoint with slots, new deliveries and due retries are parked, too, and
// take their place in the order: see behindOthers.

// ageAfter is how long, per attempt already made, a parked delivery waits before it counts as
// one without attempts.
const ageAfter = time.Minute

// Order sorts parked deliveries, of which the caller lists the oldest, by who goes first: fewest attempts first, and
// then oldest first. So deliveries that always fail neither hold up the others nor open the circuit again. A delivery
// that has waited a minute per attempt counts as one without attempts, so that new deliveries do not hold up retries
// forever.
func Order(parked []hook.Delivery, now time.Time) {
	attempts := func(d hook.Delivery) int {
		if now.Sub(d.UpdatedAt) >= time.Duration(d.Attempts)*ageAfter {
			return 0
		}
		return d.Attempts
	}
	slices.SortStableFunc(parked, func(a, b hook.Delivery) int {
		return cmp.Or(cmp.Compare(attempts(a), attempts(b)), a.CreatedAt.Compare(b.CreatedAt))
	})
}

// Leased reports whether the delivery has a lease.
func (l Limits) Leased(d hook.DeliveryID) bool { return l.Leases[LeaseKey(d)] != Lease{} }

// Free returns the deliveries without a lease, each once.
func (l Limits) Free(parked []hook.Delivery) []hook.Delivery {
	var free []hook.Delivery
	seen := make(map[hook.DeliveryRef]bool, len(parked))
	for _, d := range parked {
		if !l.Leased(d.ID) && !seen[d.Ref()] {
			seen[d.Ref()] = true
			free = append(free, d)
		}
	}
	return free
}

// Likeliest returns the delivery with the best prospects as a probe, of one or more: one of another
// event type than the last probe, because all events of a type may fail, then with the fewest
// attempts, then the oldest.
func Likeliest(parked []hook.Delivery, last string) hook.Delivery {
	return slices.MinFunc(parked, func(a, b hook.Delivery) int {
		repeats := func(d hook.Delivery) int {
			if d.EventType == last {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(repeats(a), repeats(b)), cmp.Compare(a.Attempts, b.Attempts), a.CreatedAt.Compare(b.CreatedAt))
	})
}
