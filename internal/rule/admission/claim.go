package admission

import (
	"cmp"
	"slices"
	"time"

	"surehook.example/surehook/internal/hook"
)

// MaxClaims is the highest number of claims in one write. The same write also ends expired
// leases, up to as many as the endpoint has slots, and must fit into one expression of
// DynamoDB. The next hand-over claims the slots that are left.
const MaxClaims = 30

// Claim is a slot that was leased to a parked delivery, and the task to send for it.
type Claim struct {
	Task  hook.Task
	At    time.Time // when the task is due: now, or at its rate slot
	Lease Held
}

// Holds reports whether the limits still have the lease of the claim.
func (l Limits) Holds(c Claim) bool { return l.Leases[c.Lease.Key].Nonce == c.Lease.Nonce }

// Claim leases the free ones of most slots to the waiting deliveries, in order, and reserves their
// rate slots. It stops at the first delivery whose rate slot is more than maxWait away, and returns
// that wait as rateWait.
func (l Limits) Claim(waiting []hook.Delivery, most int, perSecond float64, maxWait time.Duration, now time.Time) (next Limits, claims []Claim, rateWait time.Duration) {
	next = l
	next.Most = most
	for _, d := range waiting[:max(0, min(len(waiting), most-len(l.Leases), MaxClaims))] {
		at, reserved := now, next
		if perSecond > 0 {
			if reserved, at = next.Reserve(perSecond, now); at.Sub(now) > maxWait {
				return next, claims, at.Sub(now)
			}
		}
		task := d.NextTask()
		task.Slot, task.Reserved = true, perSecond > 0
		lease := Held{LeaseKey(d.ID), Lease{Nonce: task.Nonce, Until: LeaseEnd(at)}}
		next = reserved.Begin(lease)
		claims = append(claims, Claim{task, at, lease})
	}
	return next, claims, 0
}

// ageAfter is how long, per attempt already made, a parked delivery waits before it counts as
// one without attempts.
const ageAfter = time.Minute

// Order returns the parked deliveries without a lease, each once, in the order in which they
// get slots: fewest attempts first, so that deliveries that always fail do not hold up the
// others, and then oldest first.
//
// A delivery that has waited a minute per attempt counts as one without attempts, so that new
// deliveries do not hold up retries forever.
func (l Limits) Order(parked []hook.Delivery, now time.Time) []hook.Delivery {
	attempts := func(d hook.Delivery) int {
		if now.Sub(d.UpdatedAt) >= time.Duration(d.Attempts)*ageAfter {
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
