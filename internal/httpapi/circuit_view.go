package httpapi

import (
	"time"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/sign"
)

// statusView is an endpoint with the state of the circuit.
type statusView struct {
	endpointView
	Slow            bool             `json:"slow"`
	CircuitState    circuitStateView `json:"circuit_state"`
	SignedBy        sign.Signers     `json:"signed_by"`
	OldSecretsUntil time.Time        `json:"old_secrets_until,omitzero"`
}

type circuitStateView struct {
	State          circuit.State `json:"state"`
	Admits         float64       `json:"admits"`
	Failures       int           `json:"failures"`
	OpenedAt       time.Time     `json:"opened_at,omitzero"`
	Cooldown       time.Duration `json:"cooldown,omitzero"`
	NextProbeAt    time.Time     `json:"next_probe_at,omitzero"`
	ThrottledUntil time.Time     `json:"throttled_until,omitzero"`
	InFlight       *int          `json:"in_flight,omitzero"` // only with max_in_flight
	Waiting        bool          `json:"waiting"`
}

func viewCircuitState(s endpoint.Status) circuitStateView {
	v := viewOf[circuitStateView](s.Gate)
	v.Admits, v.NextProbeAt, v.Waiting = s.Admits, s.NextProbe(), s.Gate.HasParked()
	if s.Gate.State == circuit.Closed { // they are those of the last outage
		v.OpenedAt, v.Cooldown = time.Time{}, 0
	}
	if s.Endpoint.MaxInFlight > 0 {
		v.InFlight = &s.InFlight
	}
	return v
}
