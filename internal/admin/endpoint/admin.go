// Package endpoint manages the endpoints of a tenant: settings, signing
// secrets, status and circuit.
//
// # Tenants
//
// Every call acts for one tenant. For an endpoint of another tenant it returns
// CodeNotFound, as for an unknown endpoint.
// Package httpapi authorizes the caller before the call.
//
// # Concurrent changes
//
// Endpoints and circuits have a version. A change reads, edits and writes on the
// condition that the version is still the one read, and starts again after a conflict.
//
// The package knows neither HTTP nor storage nor encryption.
package endpoint

import (
	"time"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/store"
)

// Admin manages endpoints. All fields up to Now are required.
type Admin struct {
	Store        Store
	CircuitQueue admit.CircuitQueue // starts the release of parked deliveries
	Vault        Vault
	Policy       egress.Policy     // URLs allowed for endpoints
	Origins      Origins           // of requests; zero: the own region only
	Destinations hook.Destinations // in AWS; zero: none
	Envelope     hook.Envelope     // of a new endpoint that names none
	// Profiles are the deployment's own signature profiles, by name.
	Profiles map[string]hook.SignatureProfile
	// NewProfiles names the profiles of a new endpoint that names none; nil: standard.
	NewProfiles []string
	// Prover asks the receiver before an endpoint is stored with its URL; nil: nobody asks.
	Prover Prover
	// PresetsOnly refuses transformations that are no presets, for callers that lack the right.
	PresetsOnly bool
	// PublicOnly refuses to make or change endpoints with egress private, for callers that lack the right.
	PublicOnly bool
	PerHost    int // endpoints of a tenant with one host at most; 0: no limit
	Now        func() time.Time
	Wait       store.Wait // between two tries of a write; nil: by the real clock

	// Changed is called after each written change of an endpoint, before the release of
	// deliveries. A new endpoint has no before, a deleted endpoint no after. nil: no call.
	Changed func(before, after hook.Endpoint)
	// CircuitChanged is called after each written change of a circuit's state by a
	// caller. nil: no call.
	CircuitChanged func(before, after admission.Record)
}

func (a *Admin) changed(before, after hook.Endpoint) {
	if a.Changed != nil {
		a.Changed(before, after)
	}
}

// now returns the current time in the stored form: UTC with milliseconds.
func (a *Admin) now() time.Time { return a.Now().UTC().Truncate(time.Millisecond) }
