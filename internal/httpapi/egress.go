package httpapi

import (
	"context"
	"net/netip"

	"surehook/internal/hook"
)

// egress is the kind of source addresses of an endpoint's requests.
type egress string

const (
	egressShared egress = "shared" // any address of AWS in the region
	egressFixed  egress = "fixed"  // the addresses of egressView alone
)

// String returns the word of the API.
func (e egress) String() string { return string(e) }

func egressOf(e hook.Endpoint) egress {
	if e.Fixed {
		return egressFixed
	}
	return egressShared
}

// egressView holds the choices for region, egress and destination of an endpoint.
// Receivers put the addresses into their firewalls, and the principal into the trust
// policy of their role.
type egressView struct {
	Regions   []string     `json:"regions"`
	Addresses []netip.Addr `json:"addresses"`

	Destinations *destinationsView `json:"destinations,omitzero"` // absent: the deployment sends HTTP only
}

// getEgress responds with the origins of requests. The origins are settings of the
// deployment, so getEgress reads nothing.
func (h *manage) getEgress(context.Context, *call) (reply, error) {
	origins := h.Endpoints.Origins
	return ok(egressView{
		Regions:   append([]string{}, origins.Regions...),
		Addresses: append([]netip.Addr{}, origins.Addresses...),

		Destinations: viewDestinations(h.Endpoints.Destinations),
	}), nil
}
