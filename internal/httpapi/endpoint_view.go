package httpapi

import (
	"time"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/sign"
)

type endpointView struct {
	ID hook.EndpointID `json:"id"`
	endpoint.Fields
	TLS         *tlsView    `json:"tls,omitzero"` // in place of that of the settings; absent: the roots of the system
	PublicKey   string      `json:"public_key,omitzero"`
	Status      hook.Status `json:"status"`
	Reason      hook.Reason `json:"reason"`
	StatusSince time.Time   `json:"status_since"`
	CreatedAt   time.Time   `json:"created_at"`
	UpdatedAt   time.Time   `json:"updated_at"`
	Version     int64       `json:"version"`
}

// statusView is an endpoint with the state of the circuit.
type statusView struct {
	endpointView
	Slow            bool                  `json:"slow"`
	CircuitState    endpoint.CircuitState `json:"circuit_state"`
	SignedBy        sign.Signers          `json:"signed_by"`
	OldSecretsUntil time.Time             `json:"old_secrets_until,omitzero"`
}

// secretView is an endpoint with a new secret, which no other response contains.
type secretView struct {
	endpointView
	Secret string `json:"secret"`
}

// viewEndpoint returns the endpoint as every caller sees it: with defaults in place of zero, and with
// masks in place of the secrets. A header value may be a credential of the receiver.
func viewEndpoint(e hook.Endpoint) endpointView {
	headers := make(map[string]string, len(e.SealedHeaders))
	for name := range e.SealedHeaders {
		headers[name] = hook.Masked
	}
	profiles := each(e.Profiles, func(p hook.SignatureProfile) string { return p.Name })
	e.MaxRetryAfter, e.Shards, e.Circuit = e.RetryAfterCap(), e.Target().Shards, e.Circuit.WithDefaults()
	e.Auth.Secret = hook.Masked
	v := viewOf[endpointView](e)
	region, egress := e.Origin()
	v.Region, v.Egress = &region, &egress
	v.Headers, v.Profiles = &headers, &profiles
	v.TLS, v.PublicKey = viewTLS(e.TLS), endpoint.PublicKey(e)
	if !e.Coalesce.On() {
		v.Coalesce = nil
	}
	if e.Destination.ExternalID == "" { // it never had another destination than http
		v.Destination = nil
	}
	return v
}
