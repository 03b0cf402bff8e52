package httpapi

import (
	"time"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/hook"
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

// secretView is an endpoint with a new secret, which no other response contains.
type secretView struct {
	endpointView
	Secret string `json:"secret"`
}

// viewEndpoint returns the endpoint as every caller sees it.
func viewEndpoint(e hook.Endpoint) endpointView {
	return endpointView{
		ID:          e.ID,
		Fields:      endpoint.FieldsOf(e),
		TLS:         viewTLS(e.TLS, hook.Masked),
		PublicKey:   endpoint.PublicKey(e),
		Status:      e.Status,
		Reason:      e.Reason,
		StatusSince: e.StatusSince,
		CreatedAt:   e.CreatedAt,
		UpdatedAt:   e.UpdatedAt,
		Version:     e.Version,
	}
}
