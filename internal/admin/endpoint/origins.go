package endpoint

import (
	"net/netip"
	"slices"
	"strings"

	"surehook.example/surehook/internal/hook"
)

// Origins are the origins that a deployment has besides its own region with changing addresses.
type Origins struct {
	Regions   []string     // other regions with a sender
	Addresses []netip.Addr // fixed source addresses of the own region; none: no fixed egress
}

// Egress says which source addresses an endpoint's requests have.
type Egress bool

// The values of Egress.
const (
	EgressShared Egress = false // any address of AWS in the region
	EgressFixed  Egress = true  // Origins.Addresses alone
)

// String returns the word of the API.
func (e Egress) String() string {
	if e == EgressFixed {
		return "fixed"
	}
	return "shared"
}

// check returns the fields that name an origin that the deployment does not have. If an origin is
// removed from the deployment, its endpoints keep it, but their next change must name another
// origin.
func (p Origins) check(e hook.Endpoint) []hook.FieldError {
	var errs []hook.FieldError
	if e.Region != "" && !slices.Contains(p.Regions, e.Region) {
		message := "must be empty: this deployment sends from its own region only"
		if len(p.Regions) > 0 {
			message = "must be empty, for the deployment's own region, or one of " + strings.Join(p.Regions, ", ")
		}
		errs = append(errs, hook.FieldError{Field: "region", Message: message})
	}
	switch {
	case e.Fixed && len(p.Addresses) == 0:
		errs = append(errs, hook.FieldError{Field: "egress", Message: "must be shared: this deployment has no fixed addresses"})
	case e.Fixed && e.Region != "":
		errs = append(errs, hook.FieldError{Field: "egress", Message: "must be shared with a region: the fixed addresses are in the deployment's own region"})
	}
	return errs
}
