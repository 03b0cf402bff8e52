package ingest

import (
	"context"

	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
)

// Store keeps events, and the versions, limits and endpoints of tenants. Every read sees every
// write acknowledged before the read began.
type Store interface {
	DirectoryStore
	// PutEvent stores a new event, or returns CodeConflict if the id exists. A stored event
	// that has expired when the new one is accepted is replaced.
	PutEvent(ctx context.Context, e hook.Event) error
	settle.OrderStore
	// RegisterTenant makes the tenant known, with a version of at least 1. Repeated calls do no
	// harm.
	RegisterTenant(ctx context.Context, tenant hook.TenantID) error
	settle.Spender
}

// DirectoryStore reads what a Directory keeps of tenants. Every read sees every write acknowledged before
// the read began.
type DirectoryStore interface {
	// TenantVersion returns a number that changes with every change of the tenant's
	// endpoints and limits; 0 for an unknown tenant.
	TenantVersion(ctx context.Context, tenant hook.TenantID) (int64, error)
	// Listing returns the tenant's version, limits and endpoints.
	Listing(ctx context.Context, tenant hook.TenantID) (Listing, error)
	// Changes returns what has changed since the mark of a listing that was not torn, or of changes
	// since one. versionOf returns the version of an endpoint at the mark; 0 for none. all is false
	// if only Listing can tell: too much has changed, or changes are under way.
	Changes(ctx context.Context, tenant hook.TenantID, since Mark, versionOf func(hook.EndpointID) int64) (c Changes, all bool, err error)
}

// Mark is a moment in the changes of a tenant. All but the version is for the store alone.
type Mark struct {
	Version int64 // 0 for an unknown tenant
	Digest  int64 // of the versions of all endpoints
	Recent  []string
}

// Changes are those of a tenant between two marks.
type Changes struct {
	Mark

	Limits    hook.TenantLimits
	Changed   []hook.EndpointID // created, changed and deleted ones
	Endpoints []Subscriber      // those that exist, as they are now
}

// Listing is what ingest must know of a tenant.
type Listing struct {
	Mark

	Limits    hook.TenantLimits // zero without limits
	Endpoints []Subscriber      // all of the tenant, in the order of their ids
	// Torn means that there were changes during the read. The endpoints show every change that
	// was acknowledged before the read, but perhaps not every change that Version counts. A
	// listing that is not torn shows the tenant at one moment.
	Torn bool
}

// Subscriber is what ingest must know of an endpoint: whether an event is for it, and its queue.
type Subscriber struct {
	ID         hook.EndpointID `stored:"id"`
	EventTypes []string        `stored:"event_types"`
	Filter     []byte          `stored:"filter"`
	Shards     int             `stored:"shards"`
	Coalesce   hook.Coalescing `stored:"coalesce"`
	Ordered    bool            `stored:"ordered"`
	Version    int64           `stored:"version"`
}

// SubscriberOf returns the part of the endpoint.
func SubscriberOf(e hook.Endpoint) Subscriber {
	return Subscriber{ID: e.ID, EventTypes: e.EventTypes, Filter: e.Filter, Shards: e.Shards, Coalesce: e.Coalesce, Ordered: e.Ordered, Version: e.Version}
}
