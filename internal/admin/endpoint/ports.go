package endpoint

import (
	"context"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
)

// Store keeps endpoints. Every change also changes the version of the tenant.
// Reads are strongly consistent.
type Store interface {
	// CreateEndpoint stores a new endpoint as version 1. CodeConflict if the
	// tenant already uses the uid or has hook.MaxEndpointsPerTenant endpoints.
	CreateEndpoint(ctx context.Context, e hook.Endpoint) error
	// UpdateEndpoint writes the endpoint as version e.Version+1; CodeConflict
	// if the stored version is not e.Version. The uid does not change.
	UpdateEndpoint(ctx context.Context, e hook.Endpoint) error
	// DeleteEndpoint removes the endpoint and frees the uid; CodeConflict if
	// the stored version is not e.Version.
	DeleteEndpoint(ctx context.Context, e hook.Endpoint) error
	// Endpoint returns the endpoint of the tenant; CodeNotFound if the id is unknown.
	Endpoint(ctx context.Context, tenant hook.TenantID, id hook.EndpointID) (hook.Endpoint, error)
	// EndpointByUID returns the endpoint of the tenant; CodeNotFound if the uid is unknown.
	EndpointByUID(ctx context.Context, tenant hook.TenantID, uid string) (hook.Endpoint, error)
	// Endpoints returns all endpoints of the tenant, in the order of their ids.
	Endpoints(ctx context.Context, tenant hook.TenantID) ([]hook.Endpoint, error)
}

// Circuits keeps the gate's records. Reads are strongly consistent.
type Circuits interface {
	// Circuit returns the record of the endpoint; gate.NewRecord if none is stored.
	Circuit(ctx context.Context, tenant hook.TenantID, endpoint hook.EndpointID) (gate.Record, error)
	// SaveCircuit writes the record as version r.Version+1. CodeConflict, without
	// a write, if the stored version is not r.Version (0: no record).
	SaveCircuit(ctx context.Context, r gate.Record) error
	// CircuitsOf returns the stored records of the endpoints.
	CircuitsOf(ctx context.Context, endpoints []hook.EndpointID) (map[hook.EndpointID]gate.Record, error)
	// Limits returns the rate slots and leases of the endpoint; the zero Limits if none are stored.
	Limits(ctx context.Context, endpoint hook.EndpointID) (gate.Limits, error)
}

// History keeps the notifications about endpoints.
type History interface {
	// Notifications returns at most limit notifications of the endpoint, newest
	// first. cursor is the next of an earlier call, or empty for the newest. next
	// is empty at the end.
	Notifications(ctx context.Context, endpoint hook.EndpointID, cursor string, limit int) (page []hook.Notification, next string, err error)
}

// Vault encrypts signing secrets.
type Vault interface {
	// Seal encrypts the text form of a secret. Only the same endpoint can decrypt the result.
	Seal(ctx context.Context, secret string, endpoint hook.EndpointID) ([]byte, error)
}
