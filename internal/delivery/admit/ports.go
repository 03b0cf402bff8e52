package admit

import (
	"context"
	"time"

	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/stats"
)

// Store keeps circuits, limits and counts, and finds parked deliveries.
type Store interface {
	CircuitStore
	LimitStore
	Counter
	ParkedReader
}

// ParkedReader finds parked deliveries.
type ParkedReader interface {
	// Parked returns parked deliveries in the target's shards created at or after since, the
	// oldest first, at most limit; a zero since leaves out none. A page shorter than limit need
	// not be the end. The index may lag a moment: a delivery parked just now may be absent, but
	// every returned delivery is parked.
	//
	// but leaves out deliveries before their records are read: of an endpoint with 100 slots, the oldest hundred have
	// one, and a record is a hundred times as dear as its row.
	Parked(ctx context.Context, target hook.Target, since time.Time, limit int, but Except) ([]hook.Delivery, error)
}

// Except are deliveries that a list leaves out before it reads their records. The zero value leaves out none.
type Except struct {
	About int                        // how many of them a list may meet: it looks at so many more rows at first
	Has   func(hook.DeliveryID) bool // nil: none
}

// CircuitStore keeps the circuit records of endpoints. Every read sees every
// write acknowledged before the read began.
type CircuitStore interface {
	// Circuit returns the endpoint's record, or NewRecord without a stored record.
	Circuit(ctx context.Context, tenant hook.TenantID, endpoint hook.EndpointID) (admission.Record, error)
	// SaveCircuit writes r as version r.Version+1. If the stored version is not r.Version, it
	// writes nothing and returns CodeConflict; version 0 means "no record". A conflict is
	// always with another call: if a client repeats a request whose response was lost, that is
	// still one write.
	SaveCircuit(ctx context.Context, r admission.Record) error
}

// LimitStore keeps the in-flight slots and the reserved rate slots of endpoints, and
// the shares of tenants. Every read sees every write acknowledged before the read began.
type LimitStore interface {
	LimitReader
	// ChangeLimits writes the differences between before and after. It writes nothing and
	// returns CodeConflict if a lease or rate slot to be changed is no longer as in before, or
	// if leases are added and the endpoint would have more than after.Most leases. Score, Slots
	// and Late are overwritten without a condition: of two concurrent writers one may lose an answer. Without a
	// difference nothing is written.
	ChangeLimits(ctx context.Context, endpoint hook.EndpointID, before, after admission.Limits) error
	// Shares returns the tenant's shares in the queue slot, or the zero Limits.
	Shares(ctx context.Context, tenant hook.TenantID) (admission.Limits, error)
	// ChangeShares is ChangeLimits for the tenant's shares.
	ChangeShares(ctx context.Context, tenant hook.TenantID, before, after admission.Limits) error
}

// LimitReader reads the limits of endpoints.
type LimitReader interface {
	// Limits returns the endpoint's limits, or the zero Limits without a stored record.
	Limits(ctx context.Context, endpoint hook.EndpointID) (admission.Limits, error)
}

// Counter counts attempts and deliveries of endpoints.
type Counter interface {
	settle.Counter
	// CountMore adds to the counts of the hour and the minute of at, as Count does, but only if
	// the hour already has counts. After the erasure of the tenant, for example, it has none.
	CountMore(ctx context.Context, tenant hook.TenantID, endpoint hook.EndpointID, add *stats.Counts, at time.Time) error
}

// CircuitQueue carries circuit checks to the breaker.
type CircuitQueue interface {
	// Enqueue makes the breaker check the endpoint's circuit after the delay. A delay longer
	// than 15 minutes is cut to 15 minutes: a breaker that is called too early enqueues the
	// check again.
	Enqueue(ctx context.Context, check hook.CircuitCheck, delay time.Duration) error
}
