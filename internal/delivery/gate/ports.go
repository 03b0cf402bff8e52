package gate

import (
	"context"
	"time"

	"surehook/internal/hook"
	"surehook/internal/rule/circuit"
	"surehook/internal/rule/stats"
)

// Store keeps what the gate decides by. Every read sees every write that was
// acknowledged before it began.
type Store interface {
	// Circuit returns the endpoint's record; NewRecord if there is none.
	Circuit(ctx context.Context, tenant hook.TenantID, endpoint hook.EndpointID) (Record, error)
	// SaveCircuit writes the record as version r.Version+1; CodeConflict if the
	// stored version is not r.Version (0: no record), and nothing is written.
	SaveCircuit(ctx context.Context, r Record) error
	// Limits returns what the endpoint has given out; the zero Limits if nothing was.
	Limits(ctx context.Context, endpoint hook.EndpointID) (Limits, error)
	// SaveLimits writes the limits as version l.Version+1; CodeConflict if the
	// stored version is not l.Version (0: no record), and nothing is written.
	SaveLimits(ctx context.Context, endpoint hook.EndpointID, l Limits) error
	// Count adds to the counts of the hour, and of OK and Failed to those of the
	// minute, that now is in. It returns OK and Failed of the circuit.Window that
	// ends with it. Concurrent counts all count.
	Count(ctx context.Context, tenant hook.TenantID, endpoint hook.EndpointID, add stats.Counts, now time.Time) (circuit.Counts, error)
}

// CircuitQueue is how the breaker is asked to look at an endpoint.
type CircuitQueue interface {
	// Enqueue makes the breaker look at the endpoint after the delay, which is cut
	// to 15 minutes: the breaker asks again when it was asked too early.
	Enqueue(ctx context.Context, look hook.CircuitCheck, delay time.Duration) error
}

// Notifier is how owners hear of what the gate decided.
type Notifier interface {
	// Notify tells the notice to all who should hear of it.
	Notify(ctx context.Context, n hook.Notification) error
}
