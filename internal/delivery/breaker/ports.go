package breaker

import (
	"context"
	"time"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
	"surehook/internal/rule/circuit"
	"surehook/internal/rule/stats"
)

// Store keeps what the breaker looks at. Every read but those of indexes sees
// every write that was acknowledged before it began.
type Store interface {
	Circuits
	Deliveries
	Stats
	// Endpoint returns the endpoint; CodeNotFound if the tenant has none such.
	Endpoint(ctx context.Context, tenant hook.TenantID, id hook.EndpointID) (hook.Endpoint, error)
	// UpdateEndpoint writes the endpoint as version e.Version+1; CodeConflict if the
	// stored version is not e.Version, and nothing is written.
	UpdateEndpoint(ctx context.Context, e hook.Endpoint) error
}

// Circuits are the records of endpoints that need looking after.
type Circuits interface {
	// Circuit returns the endpoint's record; gate.NewRecord if there is none.
	Circuit(ctx context.Context, tenant hook.TenantID, endpoint hook.EndpointID) (gate.Record, error)
	// SaveCircuit writes the record as version r.Version+1; CodeConflict if the
	// stored version is not r.Version (0: no record), and nothing is written.
	SaveCircuit(ctx context.Context, r gate.Record) error
	// DueCircuits returns the endpoints whose AttendAt is not after now, the
	// longest due first, at most limit. The index behind it may lag a moment.
	DueCircuits(ctx context.Context, now time.Time, limit int) ([]hook.CircuitCheck, error)
	// Attended returns the records that have an AttendAt, due or not, the next first, at
	// most limit (1 to 1000). The index behind it may lag a moment.
	Attended(ctx context.Context, limit int) ([]gate.Record, error)
}

// Stats is what was counted of endpoints' attempts and deliveries.
type Stats interface {
	// Hours returns what was counted for the endpoint in the hours that began at or
	// after since, in order; hours without anything may be left out.
	Hours(ctx context.Context, endpoint hook.EndpointID, since time.Time) ([]stats.Hour, error)
	// Active returns the endpoints for which something was counted in the hour that
	// at is in, in the order of tenant and id, at most limit (1 to 1000), after the
	// one given; the zero Look: from the first. None is the end. The index behind it
	// may lag a moment.
	Active(ctx context.Context, at time.Time, after hook.CircuitCheck, limit int) ([]hook.CircuitCheck, error)
	// Count adds to the counts of the hour that now is in. Concurrent counts all count.
	Count(ctx context.Context, tenant hook.TenantID, endpoint hook.EndpointID, add stats.Counts, now time.Time) (circuit.Counts, error)
}

// Deliveries are what waits for an endpoint, and what the dead letters are about.
type Deliveries interface {
	// Parked returns parked deliveries of the endpoint, the oldest first, at most
	// limit; fewer need not be all. The index behind it may lag a moment: one parked
	// just now may be missing; one that is parked no more is not returned.
	Parked(ctx context.Context, endpoint hook.EndpointID, limit int) ([]hook.Delivery, error)
	// SaveDelivery writes the delivery as version d.Version+1; CodeConflict if the
	// stored version is not d.Version, and nothing is written.
	SaveDelivery(ctx context.Context, d hook.Delivery, attempt *hook.Attempt) error
	// Delivery returns the record; CodeNotFound if there is none.
	Delivery(ctx context.Context, id hook.DeliveryID) (hook.Delivery, error)
	// DeliveriesByID returns the records that there are, in no particular order.
	DeliveriesByID(ctx context.Context, ids []hook.DeliveryID) ([]hook.Delivery, error)
}

// Queue carries tokens.
type Queue interface {
	// Send puts the tokens on the lane, to be received after the delay (0 to
	// 15 minutes, whole seconds; rounded up). It returns nil when the queue has
	// them all, else one entry per token: nil for those it has.
	Send(ctx context.Context, lane hook.Lane, tokens []hook.Token, delay time.Duration) []error
}

// DeadLetters is where deliveries that gave up are shown.
type DeadLetters interface {
	// Send sends one message about the delivery.
	Send(ctx context.Context, letter hook.DeadLetter) error
	// Receive returns at most 10 letters and hides them from other receivers for a
	// minute; none when it sees none, which need not be all.
	Receive(ctx context.Context) ([]Letter, error)
	// Remove removes letters that Receive returned, at most 10.
	Remove(ctx context.Context, letters []Letter) error
	// Depth returns about how many letters there are, those that are hidden included.
	Depth(ctx context.Context) (int, error)
}

// Letter is a message of the dead letters.
type Letter struct {
	ID      string // the same as often as it is returned, and no other letter's
	Receipt string // what removes it, for as long as it is hidden
	Body    string // hook.DeadLetter, encoded
}

// Settlement is what follows when a delivery is settled.
type Settlement interface {
	// Complete does what follows from the delivery, as it is recorded. It may be done twice.
	Complete(ctx context.Context, d hook.Delivery) error
}
