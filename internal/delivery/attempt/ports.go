package attempt

import (
	"context"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
)

// Store keeps the TLS settings of endpoints.
type Store interface {
	// TLSMaterial returns the stored material of the endpoint's TLS settings, or CodeNotFound
	// if there is none.
	TLSMaterial(ctx context.Context, tenant hook.TenantID, id hook.EndpointID) (hook.Material, error)
}

// Vault decrypts signing secrets, header values, TLS keys and the secrets of authentications.
type Vault interface {
	// Open returns the text form of a secret sealed for the tenant and endpoint.
	Open(ctx context.Context, sealed []byte, tenant hook.TenantID, endpoint hook.EndpointID) (string, error)
}

// Sender makes requests from here: to URLs, or to destinations in AWS.
type Sender interface {
	// Send makes one attempt within the endpoint's timeout and returns the
	// outcome.
	Send(ctx context.Context, r send.Request) hook.Outcome
}

// Remote makes requests from other origins: in the endpoint's region, or from fixed addresses.
type Remote interface {
	// Send makes one attempt within the endpoint's timeout and returns the outcome.
	// The error wraps send.ErrNotSent only if no request was made. After any other error, the
	// endpoint may have received the request.
	Send(ctx context.Context, r send.Request) (hook.Outcome, error)
}
