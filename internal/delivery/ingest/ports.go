package ingest

import (
	"context"
	"time"

	"surehook/internal/hook"
)

// Store keeps events and knows a tenant's endpoints. Every read sees every
// write that was acknowledged before it began.
type Store interface {
	// PutEvent stores a new event; CodeConflict if its id exists.
	PutEvent(ctx context.Context, e hook.Event) error
	// Event returns the event with its payload; CodeNotFound if there is none.
	Event(ctx context.Context, id hook.EventID) (hook.Event, error)
	// Deliveries returns the recorded deliveries of the event, all generations.
	Deliveries(ctx context.Context, id hook.EventID) ([]hook.Delivery, error)
	// TenantVersion returns a number that changes with every change of the
	// tenant's endpoints; 0 for a tenant that never had one.
	TenantVersion(ctx context.Context, tenant hook.TenantID) (int64, error)
	// Endpoints returns all endpoints of the tenant, in the order of their ids.
	Endpoints(ctx context.Context, tenant hook.TenantID) ([]hook.Endpoint, error)
}

// Queue carries tokens.
type Queue interface {
	// Send puts the tokens on the lane, to be received after the delay (0 to
	// 15 minutes, whole seconds; rounded up). It returns nil when the queue has
	// them all, else one entry per token: nil for those it has.
	Send(ctx context.Context, lane hook.Lane, tokens []hook.Token, delay time.Duration) []error
}
