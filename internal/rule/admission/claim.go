package admission

import (
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
