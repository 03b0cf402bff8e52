package isolation

import (
	"cmp"
	"slices"
	"time"

	"surehook/internal/hook"
)

// MaxClaims is the most claims of one write. The write of the claims also ends the leases
// of dead processes, as many as an endpoint has slots, and must fit into one expression of
// DynamoDB. The next hand-over claims the slots that are left.
const MaxClaims = 30

// Claim is a parked delivery with a slot: its token is sent for the time.
type Claim struct {
	Token hook.Token
	At    time.Time
	Lease Held
}

// Holds reports whether the limits hold the claim.
func (l Limits) Holds(c Claim) bool { return l.Leases[c.Lease.Key].Nonce == c.Lease.Nonce }

// Claim leases free slots to the deliveries, in order, and reserves their rate slots. A
// delivery whose rate slot is later than maxWait gets no slot, and none after it: rateWait
// is the time until then.
func (l Limits) Claim(waiting []hook.Delivery, free int, perSecond float64, maxWait time.Duration, now time.Time) (next Limits, claims []Claim, rateWait time.Duration) {
	next = l
	for _, d := range waiting[:max(0, min(len(waiting), free, MaxClaims))] {
		at, reserved := now, next
		if perSecond > 0 {
			if reserved, at = next.Reserve(perSecond, now); at.Sub(now) > maxWait {
				return next, claims, at.Sub(now)
			}
		}
		token := d.NextToken()
		token.Slot, token.Reserved = true, perSecond > 0
		lease := Held{LeaseKey(d.ID), Lease{Nonce: token.Nonce, Until: at.Add(LeaseFor).UTC().Truncate(time.Millisecond)}}
		next = reserved.Begin(lease)
		claims = append(claims, Claim{token, at, lease})
	}
	return next, claims, 0
}

// ageAfter is the wait per attempt after which a parked delivery is as good as a
// delivery without an attempt.
const ageAfter = time.Minute

// Order returns the parked deliveries without a lease, each once, in the order of their
// claims: fewest attempts first, so that deliveries that always fail do not hold up the
// others, and then the oldest first. A delivery that waited a minute per attempt counts as
// one without attempts, unless the attempt of the slot failed: new deliveries do not hold
// up the retries. The time before closedAt does not count, because in an outage a delivery
// waits behind no other: the deliveries that opened the circuit would be the first again.
func (l Limits) Order(parked []hook.Delivery, failed bool, closedAt, now time.Time) []hook.Delivery {
	attempts := func(d hook.Delivery) int {
		waited := min(now.Sub(d.UpdatedAt), now.Sub(closedAt))
		if !failed && waited >= time.Duration(d.Attempts)*ageAfter {
			return 0
		}
		return d.Attempts
	}
	free := l.Free(parked)
	slices.SortStableFunc(free, func(a, b hook.Delivery) int {
		return cmp.Or(cmp.Compare(attempts(a), attempts(b)), a.CreatedAt.Compare(b.CreatedAt))
	})
	return free
}

// Free returns the deliveries without a lease, each once.
func (l Limits) Free(parked []hook.Delivery) []hook.Delivery {
	var free []hook.Delivery
	seen := make(map[hook.DeliveryRef]bool, len(parked))
	for _, d := range parked {
		if _, leased := l.Leases[LeaseKey(d.ID)]; !leased && !seen[d.Ref()] {
			seen[d.Ref()] = true
			free = append(free, d)
		}
	}
	return free
}

// InTurns returns the deliveries of a and b in turns.
func InTurns(a, b []hook.Delivery) []hook.Delivery {
	all := make([]hook.Delivery, 0, len(a)+len(b))
	for i := range max(len(a), len(b)) {
		all = append(append(all, a[min(i, len(a)):min(i+1, len(a))]...), b[min(i, len(b)):min(i+1, len(b))]...)
	}
	return all
}
