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
	// The new event replaces an event expired at the new event's acceptance.
	PutEvent(ctx context.Context, e hook.Event) error
	settle.EventReader
	settle.EndpointLister
	// TenantVersion returns a number that changes with every change of the tenant's
	// endpoints; 0 for a tenant without an endpoint so far.
	TenantVersion(ctx context.Context, tenant hook.TenantID) (int64, error)
}

// Queue carries tokens.
type Queue interface {
	settle.TokenQueue
}
