package httpapi

import (
	"time"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/rule/sign"
)

// statusView is an endpoint with the state of the circuit.
type statusView struct {
	endpointView
	Slow            bool                  `json:"slow"`
	CircuitState    endpoint.CircuitState `json:"circuit_state"`
	SignedBy        sign.Signers          `json:"signed_by"`
	OldSecretsUntil time.Time             `json:"old_secrets_until,omitzero"`
}
