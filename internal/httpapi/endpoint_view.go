package httpapi

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"time"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/destination"
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

// egressView holds the choices for an endpoint's region, egress, destination and signature
// profiles. Customers put the addresses into their firewalls, and the principal into the trust
// policy of their role.
type egressView struct {
	Regions   []string     `json:"regions"`
	Addresses []netip.Addr `json:"addresses"`
	Private   bool         `json:"private"` // the deployment lists private receivers of the tenant

	Destinations *destinationsView `json:"destinations,omitzero"` // absent: the deployment sends HTTP only
	Profiles     []profileView     `json:"signature_profiles"`
	Verification bool              `json:"url_verification"` // receivers answer a challenge
}

// profileView is a signature profile. The profile standard has a name only.
type profileView struct {
	Name      string            `json:"name"`
	Signed    string            `json:"signed,omitzero"`
	Algorithm string            `json:"algorithm,omitzero"`
	Encoding  string            `json:"encoding,omitzero"`
	Key       string            `json:"key,omitzero"`
	Prefix    string            `json:"prefix,omitzero"`
	Separator string            `json:"separator,omitzero"`
	Headers   map[string]string `json:"headers,omitempty"`
	Warnings  []string          `json:"warnings"` // of weak choices
}

// viewProfiles returns the profiles in the order of their names.
func viewProfiles(all map[string]hook.SignatureProfile) []profileView {
	views := make([]profileView, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		p := all[name]
		view := viewOf[profileView](p)
		view.Name = name
		if p.Own() {
			_, view.Warnings = p.Check(name)
		}
		views = append(views, view)
	}
	return views
}

// getEgress responds with the origins of requests. The origins are settings of the
// deployment, so getEgress reads nothing.
func (h *manage) getEgress(_ context.Context, c *call) (reply, error) {
	origins := h.Endpoints.Origins
	return ok(egressView{
		Regions:   origins.Regions,
		Addresses: origins.Addresses,
		Private:   len(origins.Private.For(c.tenant)) > 0,

		Destinations: viewDestinations(h.Endpoints.Destinations),
		Profiles:     viewProfiles(h.Endpoints.SignatureProfiles()),
		Verification: h.Endpoints.Prover != nil,
	}), nil
}

// destinationsView holds what a customer needs to know to create the role of an AWS destination.
type destinationsView struct {
	Types     []string `json:"types"`
	RolePath  string   `json:"role_path"`
	Principal string   `json:"principal"`
}

// viewDestinations returns nil if the deployment has no AWS destinations.
func viewDestinations(d hook.Destinations) *destinationsView {
	if d.RolePath == "" {
		return nil
	}
	types := each(destination.Names()[1:], hook.DestinationType.String) // http needs no role
	return &destinationsView{Types: types, RolePath: d.RolePath, Principal: d.Principal}
}
