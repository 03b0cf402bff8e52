package status

import (
	"context"
	"time"

	"surehook/internal/admin/endpoint"
	"surehook/internal/delivery/gate"
	"surehook/internal/delivery/replay"
	"surehook/internal/hook"
	"surehook/internal/rule/stats"
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
	// Attended returns at most limit records with a circuit that is not closed or
	// with parked deliveries. The index may lag by a moment.
	Attended(ctx context.Context, limit int) ([]gate.Record, error)
}

// History keeps events, deliveries and attempts.
type History interface {
	// Event returns the event with the payload; CodeNotFound if the id is unknown.
	Event(ctx context.Context, id hook.EventID) (hook.Event, error)
	// Deliveries returns the recorded deliveries of the event, all generations.
	Deliveries(ctx context.Context, id hook.EventID) ([]hook.Delivery, error)
	// Attempts returns the recorded attempts of the event, in the order of
	// endpoint, generation and number.
	Attempts(ctx context.Context, id hook.EventID) ([]hook.Attempt, error)
	// DeliveriesByEndpoint returns at most limit recorded deliveries of the endpoint
	// in the state, newest first. cursor is the next of an earlier call, or empty
	// for the newest. next is empty at the end. The index may lag by a moment.
	DeliveriesByEndpoint(ctx context.Context, endpoint hook.EndpointID, state hook.State, cursor string, limit int) (page []hook.Delivery, next string, err error)
}

// Stats keeps the hourly counts of attempts.
type Stats interface {
	// Hours returns the endpoint's counts of the hours with a start at or after
	// since, in order. Hours without attempts are left out.
	Hours(ctx context.Context, endpoint hook.EndpointID, since time.Time) ([]stats.Hour, error)
	// Active returns at most limit endpoints with attempts in the hour of at, in the
	// order of tenant and id, after the given endpoint; the zero CircuitCheck means
	// from the first. The index may lag by a moment.
	Active(ctx context.Context, at time.Time, after hook.CircuitCheck, limit int) ([]hook.CircuitCheck, error)
}

// Index finds waiting and dead deliveries. The index may lag by a moment.
type Index interface {
	// Select returns a page of the selection, oldest first. A page may be short or
	// empty. next is the start of the following page, empty at the end.
	Select(ctx context.Context, s replay.Selection) (page []hook.Delivery, next string, err error)
	// CountSelected returns the number of deliveries in the selection; After and
	// Limit are ignored. With an error the number is the count so far.
	CountSelected(ctx context.Context, s replay.Selection) (int, error)
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
