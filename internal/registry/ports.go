package registry

import (
	"context"

	"surehook/internal/gate"
	"surehook/internal/hook"
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
}

// Circuits is what the gate decides by: the part of its store that people look
// at and set by hand. Every read sees every write that was acknowledged before it began.
type Circuits interface {
	// Circuit returns the endpoint's record; gate.NewRecord if there is none.
	Circuit(ctx context.Context, tenant hook.TenantID, endpoint hook.EndpointID) (gate.Record, error)
	// SaveCircuit writes the record as version r.Version+1; CodeConflict if the
	// stored version is not r.Version (0: no record), and nothing is written.
	SaveCircuit(ctx context.Context, r gate.Record) error
	// Limits returns what the endpoint has given out; the zero Limits if nothing was.
	Limits(ctx context.Context, endpoint hook.EndpointID) (gate.Limits, error)
}

// Keys keeps API keys.
type Keys interface {
	// PutKey stores a new key.
	PutKey(ctx context.Context, k hook.APIKey) error
	// Keys returns all keys, in the order of their ids.
	Keys(ctx context.Context) ([]hook.APIKey, error)
	// KeyByHash returns the key; CodeNotFound if there is none.
	KeyByHash(ctx context.Context, hash string) (hook.APIKey, error)
	// DeleteKey removes the key; CodeNotFound if there is none.
	DeleteKey(ctx context.Context, id hook.KeyID) error
}

// Vault seals signing secrets.
type Vault interface {
	// Seal encrypts the text form of a secret and binds it to the endpoint.
	Seal(ctx context.Context, secret string, endpoint hook.EndpointID) ([]byte, error)
}
