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
	State          string        `json:"state"`
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
	v := circuitStateView{
		State:          s.Gate.State.String(),
		Admits:         s.Admits,
		Failures:       s.Gate.Failures,
		NextProbeAt:    s.NextProbe(),
		ThrottledUntil: s.Gate.ThrottledUntil,
		Waiting:        s.Gate.HasParked(),
	}
	if s.Gate.State != circuit.Closed { // when closed, they are those of the last outage
		v.OpenedAt, v.Cooldown = s.Gate.OpenedAt, s.Gate.Cooldown
	}
	if s.Endpoint.MaxInFlight > 0 {
		v.InFlight = &s.InFlight
	}
	return v
}
