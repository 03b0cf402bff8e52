package registry

import (
	"context"
	"time"

	"surehook/internal/delivery/gate"
	"surehook/internal/delivery/replay"
	"surehook/internal/hook"
	"surehook/internal/rule/stats"
)

// Endpoints keeps endpoints. Every change also changes the tenant's version.
// Every read sees every write that was acknowledged before it began.
type Endpoints interface {
	// CreateEndpoint stores a new endpoint as version 1. CodeConflict if the
	// tenant has its uid already or has hook.MaxEndpointsPerTenant endpoints.
	CreateEndpoint(ctx context.Context, e hook.Endpoint) error
	// UpdateEndpoint writes the endpoint as version e.Version+1; CodeConflict
	// if the stored version is not e.Version. The uid does not change.
	UpdateEndpoint(ctx context.Context, e hook.Endpoint) error
	// DeleteEndpoint removes the endpoint and frees its uid; CodeConflict if
	// the stored version is not e.Version.
	DeleteEndpoint(ctx context.Context, e hook.Endpoint) error
	// Endpoint returns the endpoint; CodeNotFound if the tenant has none such.
	Endpoint(ctx context.Context, tenant hook.TenantID, id hook.EndpointID) (hook.Endpoint, error)
	// EndpointByUID returns the endpoint with the alias; CodeNotFound if the tenant has none such.
	EndpointByUID(ctx context.Context, tenant hook.TenantID, uid string) (hook.Endpoint, error)
	// Endpoints returns all endpoints of the tenant, in the order of their ids.
	Endpoints(ctx context.Context, tenant hook.TenantID) ([]hook.Endpoint, error)
}

// History is what was posted and what came of it.
type History interface {
	// Event returns the event with its payload; CodeNotFound if there is none.
	Event(ctx context.Context, id hook.EventID) (hook.Event, error)
	// Delivery returns the record; CodeNotFound if there is none.
	Delivery(ctx context.Context, id hook.DeliveryID) (hook.Delivery, error)
	// Deliveries returns the recorded deliveries of the event, all generations.
	Deliveries(ctx context.Context, id hook.EventID) ([]hook.Delivery, error)
	// Attempts returns the recorded attempts of the event, in the order of
	// endpoint, generation and number.
	Attempts(ctx context.Context, id hook.EventID) ([]hook.Attempt, error)
	// DeliveriesByEndpoint returns recorded deliveries of the endpoint in the
	// state, newest first, at most limit, after the cursor that an earlier call
	// returned (empty: from the newest). next is empty at the end. The index
	// behind it may lag a moment.
	DeliveriesByEndpoint(ctx context.Context, endpoint hook.EndpointID, state hook.State, cursor string, limit int) (page []hook.Delivery, next string, err error)
	// Notifications returns notices of the endpoint, the newest first, at most limit,
	// after the cursor that an earlier call returned; empty: from the newest. next
	// is empty at the end.
	Notifications(ctx context.Context, endpoint hook.EndpointID, cursor string, limit int) (page []hook.Notification, next string, err error)
}

// Stats is what was counted, hour by hour.
type Stats interface {
	// Hours returns what was counted for the endpoint in the hours that began at or
	// after since, in order; hours without anything are left out.
	Hours(ctx context.Context, endpoint hook.EndpointID, since time.Time) ([]stats.Hour, error)
	// Active returns the endpoints for which something was counted in the hour that
	// at is in, in the order of tenant and id, at most limit, after the one given;
	// the zero Look: from the first. The index behind it may lag a moment.
	Active(ctx context.Context, at time.Time, after hook.CircuitCheck, limit int) ([]hook.CircuitCheck, error)
}

// Index finds deliveries that wait or are dead. It may lag a moment.
type Index interface {
	// Select returns a page of the selection, the oldest first; it may be short, or
	// empty. next is where the one after begins, empty at the end.
	Select(ctx context.Context, s replay.Selection) (page []hook.Delivery, next string, err error)
	// CountSelected returns how many deliveries the index has in the selection;
	// After and Limit do not count. With an error it may return how many it had counted.
	CountSelected(ctx context.Context, s replay.Selection) (int, error)
}

// Queues are all queues, by the names that people read.
type Queues interface {
	// Depths returns the depth of each queue.
	Depths(ctx context.Context) (map[string]Depth, error)
}

// Depth is how many messages a queue has, about.
type Depth struct {
	Visible  int // to be received now
	InFlight int // received, and neither deleted nor shown again
	Delayed  int // held back until their time comes
}

// Circuits is what the gate decides by: the part of its store that people look
// at and set by hand. Every read sees every write that was acknowledged before it began.
type Circuits interface {
	// Circuit returns the endpoint's record; gate.NewRecord if there is none.
	Circuit(ctx context.Context, tenant hook.TenantID, endpoint hook.EndpointID) (gate.Record, error)
	// SaveCircuit writes the record as version r.Version+1; CodeConflict if the
	// stored version is not r.Version (0: no record), and nothing is written.
	SaveCircuit(ctx context.Context, r gate.Record) error
	// CircuitsOf returns the records that there are of the endpoints.
	CircuitsOf(ctx context.Context, endpoints []hook.EndpointID) (map[hook.EndpointID]gate.Record, error)
	// Attended returns the records of the endpoints that are to be attended to, now
	// or later, at most limit: those whose circuit is not closed, and those for which
	// deliveries wait. The index behind it may lag a moment.
	Attended(ctx context.Context, limit int) ([]gate.Record, error)
	// Limits returns what the endpoint has given out; the zero Limits if nothing was.
	Limits(ctx context.Context, endpoint hook.EndpointID) (gate.Limits, error)
}

// Vault seals signing secrets.
type Vault interface {
	// Seal encrypts the text form of a secret and binds it to the endpoint.
	Seal(ctx context.Context, secret string, endpoint hook.EndpointID) ([]byte, error)
}
