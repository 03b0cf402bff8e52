package status

import (
	"context"

	"surehook/internal/admin/endpoint"
	"surehook/internal/delivery/breaker"
	"surehook/internal/delivery/replay"
	"surehook/internal/delivery/settle"
	"surehook/internal/hook"
)

// Endpoints finds endpoints. endpoint.Admin implements Endpoints.
type Endpoints interface {
	// Get returns the tenant's endpoint with ref as the id or the uid; CodeNotFound if none exists.
	Get(ctx context.Context, tenant hook.TenantID, ref string) (hook.Endpoint, error)
	// Status returns the same endpoint with the state of the circuit.
	Status(ctx context.Context, tenant hook.TenantID, ref string) (endpoint.Status, error)
}

// Circuits lists the gate's records.
type Circuits interface {
	breaker.CircuitLister
}

// History keeps events, deliveries and attempts.
type History interface {
	settle.EventReader
	// Attempts returns the recorded attempts of the deliveries, in the order of
	// endpoint, generation and number.
	Attempts(ctx context.Context, deliveries []hook.Delivery) ([]hook.Attempt, error)
	// DeliveriesByEndpoint returns at most limit recorded deliveries in the target's
	// shards and in the state, newest first. A page may be short or empty before the
	// end. cursor is the next of an earlier call, or empty for the newest. next is
	// empty at the end. The index may lag by a moment.
	DeliveriesByEndpoint(ctx context.Context, target hook.Target, state hook.State, cursor string, limit int) (page []hook.Delivery, next string, err error)
}

// Stats keeps the hourly counts of attempts.
type Stats interface {
	breaker.StatsReader
}

// Index finds waiting and dead deliveries. The index may lag by a moment.
type Index interface {
	replay.Index
}

// Queues measures all queues.
type Queues interface {
	// Depths returns the depth of each queue by the name used in the API.
	Depths(ctx context.Context) (map[string]Depth, error)
}

// Depth is the approximate number of messages in a queue.
type Depth struct {
	Visible  int // ready to be received
	InFlight int // received, not yet deleted, and not yet visible again
	Delayed  int // invisible until a delay ends
}
