package endpoint

import (
	"net/netip"
	"slices"
	"strings"

	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/private"
)

// Origins are the origins that a deployment has besides its own region with changing addresses.
type Origins struct {
	Regions   []string     // other regions with a sender
	Addresses []netip.Addr // fixed source addresses of the own region; none: no fixed egress
	Private   private.List // receivers of the private network; empty: no private egress
}

// policyOf returns the policy for the URLs of the endpoint: a private endpoint reaches what is listed
// for its tenant, and every other one the public internet.
func (a *Admin) policyOf(e hook.Endpoint) egress.Policy {
	p := a.Policy
	if e.Private() {
		p.Private = new(a.Origins.Private.For(e.Tenant))
	}
	return p
}

// permit refuses a private endpoint to callers who lack the right.
func (a *Admin) permit(e hook.Endpoint) error {
	if a.PublicOnly && e.Private() {
		return &hook.Error{Code: hook.CodeForbidden, Message: "an endpoint with egress private needs the scope " + string(hook.ScopePrivate)}
	}
	return nil
}

// applyOrigin sets the region and the egress. A change of the one keeps the other.
func (f Fields) applyOrigin(e *hook.Endpoint, stored hook.Endpoint) {
	region, egress := stored.Origin()
	if f.Region != nil {
		region = *f.Region
	}
	if f.Egress != nil {
		egress = *f.Egress
	}
	e.SetOrigin(region, egress)
}

// check returns the fields that name an origin that the deployment does not have. If an origin is
// removed from the deployment, its endpoints keep it, but their next change must name another
// origin.
func (p Origins) check(e hook.Endpoint) (errs hook.Fields) {
	region, egress := e.Origin()
	message := "must be empty: this deployment sends from its own region only"
	if len(p.Regions) > 0 {
		message = "must be empty, for the deployment's own region, or one of " + strings.Join(p.Regions, ", ")
	}
	errs.Refuse(region != "" && !slices.Contains(p.Regions, region), "region", "%s", message)
	switch {
	case egress == hook.EgressPrivate && len(p.Private.For(e.Tenant)) == 0:
		errs.Add("egress", "must not be private: this deployment lists no private receivers of the tenant")
	case egress == hook.EgressFixed && len(p.Addresses) == 0:
		errs.Add("egress", "must be shared: this deployment has no fixed addresses")
	case e.Fixed && region != "":
		errs.Add("egress", "must be shared with a region: fixed addresses and the private network are in the deployment's own region")
	}
	return errs
}
