package endpoint

import (
	"context"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

// Store keeps endpoints, with their circuits and notifications, and event types. Every change of an
// endpoint also changes the version of the tenant. Reads are strongly consistent.
type Store interface {
	Placer
	Circuits
	// TLSMaterial returns the stored material of the endpoint's TLS settings;
	// CodeNotFound without.
	TLSMaterial(ctx context.Context, tenant hook.TenantID, id hook.EndpointID) (hook.Material, error)
	replay.Endpoints
	// EventType returns the type; CodeNotFound for an unknown name.
	EventType(ctx context.Context, name string) (hook.EventType, error)
	// Notifications returns at most limit notifications of the endpoint, newest
	// first. cursor is the next of an earlier call, or empty for the newest. next
	// is empty at the end.
	Notifications(ctx context.Context, endpoint hook.EndpointID, cursor string, limit int) (page []hook.Notification, next string, err error)
}

// Placer creates, changes and removes endpoints.
type Placer interface {
	settle.EndpointStore
	// CreateEndpoint stores a new endpoint as version 1. CodeConflict if the
	// tenant already uses the uid or has as many endpoints as it may;
	// CodeForbidden if the tenant has hook.MaxEndpointsPerURL endpoints with the
	// receiver of the URL. CodeConflict, too, if the tenant has another version than
	// e.TenantVersion; the same holds for MoveEndpoint.
	CreateEndpoint(ctx context.Context, e hook.Endpoint) error
	// MoveEndpoint is UpdateEndpoint with another URL than from, the stored URL.
	// CodeForbidden if the tenant has hook.MaxEndpointsPerURL endpoints with the new
	// receiver.
	MoveEndpoint(ctx context.Context, e hook.Endpoint, from string) error
	// DeleteEndpoint removes the endpoint and frees the uid; CodeConflict if
	// the stored version is not e.Version.
	DeleteEndpoint(ctx context.Context, e hook.Endpoint) error
	// TenantVersion returns a number that changes with every change of the tenant's
	// endpoints; 0 for an unknown tenant.
	TenantVersion(ctx context.Context, tenant hook.TenantID) (int64, error)
}

// Circuits keeps the gate's records.
type Circuits interface {
	admit.CircuitStore
	admit.LimitReader
	// CircuitsOf returns the stored records of the endpoints.
	CircuitsOf(ctx context.Context, endpoints []hook.EndpointID) (map[hook.EndpointID]admission.Record, error)
}

// Prover asks receivers whether they want an endpoint. ownership.Prover implements Prover.
type Prover interface {
	// Prove asks the receiver at the URL, with the TLS settings that e has in clear, and without
	// headers and credentials of e. The request is signed with the v1 secret, if given.
	// CodeUnverified names the url when the receiver does not confirm; CodeThrottled after too
	// many questions of the tenant.
	Prove(ctx context.Context, e hook.Endpoint, secret string) error
	// ProveToken asks the token endpoint for an access token with the client's secret, which e has
	// in clear. CodeUnverified names auth.token_url when there is none; CodeThrottled as for Prove.
	ProveToken(ctx context.Context, e hook.Endpoint) error
}

// Vault encrypts signing secrets, header values and secrets of the authentication.
type Vault interface {
	// Seal encrypts the text form of a secret. The result opens only for the same
	// tenant and endpoint.
	Seal(ctx context.Context, secret string, tenant hook.TenantID, endpoint hook.EndpointID) ([]byte, error)
}
