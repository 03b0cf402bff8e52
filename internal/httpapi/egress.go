package httpapi

import (
	"context"
	"maps"
	"net/netip"
	"slices"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/destination"
)

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
