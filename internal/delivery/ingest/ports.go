package ingest

import (
	"context"

	"surehook/internal/delivery/settle"
	"surehook/internal/hook"
)

// Store keeps events and the endpoints of tenants. Every read sees every write
// acknowledged before the read began.
type Store interface {
	// PutEvent stores a new event, or returns CodeConflict when the id exists.
	PutEvent(ctx context.Context, e hook.Event) error
	// Event returns the event with the payload, or CodeNotFound.
	Event(ctx context.Context, id hook.EventID) (hook.Event, error)
	// Deliveries returns the recorded deliveries of the event, all generations.
	Deliveries(ctx context.Context, id hook.EventID) ([]hook.Delivery, error)
	// TenantVersion returns a number that changes with every change of the tenant's
	// endpoints; 0 for a tenant without an endpoint so far.
	TenantVersion(ctx context.Context, tenant hook.TenantID) (int64, error)
	// Endpoints returns all endpoints of the tenant, in the order of their ids.
	Endpoints(ctx context.Context, tenant hook.TenantID) ([]hook.Endpoint, error)
}

// Queue carries tokens.
type Queue interface {
	settle.TokenQueue
}
