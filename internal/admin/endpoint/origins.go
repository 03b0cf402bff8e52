package endpoint

import (
	"context"
	"fmt"
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

// checkOrigin returns the secrets of before that after would send to another origin. Header
// values, the authentication and the client certificate are for one origin. A caller who may
// change an endpoint may not read them, so they must not be sent to the caller's own server
// either. So when the origin changes, each of them must be given again, or removed. Between the
// internet and the private network, one URL can lead to two receivers: so can their token endpoints.
//
// Signing secrets do not count, because a request has only signatures. The secret of an OAuth
// client goes to the token endpoint, see applyAuth, but the access token goes to the URL.
func checkOrigin(before, after hook.Endpoint) []hook.FieldError {
	reason := "the new url has another origin"
	switch {
	case before.Private() != after.Private():
		reason = "the new egress is another network"
	case hook.Origin(before.URL) == hook.Origin(after.URL):
		return nil
	}
	var errs hook.Fields
	again := func(field string) { errs.Add(field, "must be given again, or removed: %s", reason) }
	for name := range after.SealedHeaders { // given values are in Headers
		again("headers." + name)
	}
	if len(after.Auth.Sealed) > 0 {
		again(hook.AuthField(after.Auth.Type))
	}
	if after.TLS.Client && (after.TLS.Material == nil || after.TLS.Material.Key == "") {
		again("tls.key")
	}
	slices.SortFunc(errs, func(a, b hook.FieldError) int { return strings.Compare(a.Field, b.Field) })
	return errs
}

// place checks that the tenant may have another endpoint at the host of e's URL. before is the
// stored URL, empty for a new endpoint. With a limit, the write of e requires that the tenant has
// not changed since, so that concurrent writes cannot exceed the limit together.
func (a *Admin) place(ctx context.Context, e *hook.Endpoint, before string) error {
	host := hook.Host(e.URL)
	if a.PerHost == 0 || e.Destination.On() || hook.Host(before) == host {
		return nil
	}
	version, err := a.Store.TenantVersion(ctx, e.Tenant)
	if err != nil {
		return fmt.Errorf("read version of tenant %s: %w", e.Tenant, err)
	}
	all, err := a.Store.Endpoints(ctx, e.Tenant)
	if err != nil {
		return fmt.Errorf("count endpoints of tenant %s: %w", e.Tenant, err)
	}
	count := 0
	for _, other := range all {
		if hook.Host(other.URL) == host && other.ID != e.ID {
			count++
		}
	}
	if count >= a.PerHost {
		return fmt.Errorf("place endpoint %s: %w", e.ID, hook.TooManyForHost(a.PerHost))
	}
	e.TenantVersion = &version
	return nil
}

// placeTries limits the tries of creating an endpoint with a limit per host, of which each reads all
// endpoints of the tenant. They are few, because a uid that is taken is a conflict, too.
const placeTries = 3

// prove asks the receiver of the endpoint, if the URL differs from that of before, belonged to a
// destination in AWS, or is in another network. A destination in AWS needs no question: its role is
// proof. It also asks the token endpoint, if its origin or network differs. secret is the new v1
// secret, or empty for a stored one.
func (a *Admin) prove(ctx context.Context, before, e hook.Endpoint, secret string) error {
	if a.Prover == nil || e.Destination.On() {
		return nil
	}
	elsewhere := e.Private() != before.Private() // where one URL may lead to another receiver
	if elsewhere || e.URL != before.URL || before.Destination.On() {
		if err := a.proveURL(ctx, e, secret); err != nil {
			return err
		}
	}
	if e.Auth.Type == hook.AuthOAuth2 && (elsewhere || hook.Origin(e.Auth.OAuth.TokenURL) != hook.Origin(before.Auth.OAuth.TokenURL)) {
		if err := a.Prover.ProveToken(ctx, e); err != nil {
			return fmt.Errorf("verify the token endpoint of endpoint %s: %w", e.ID, err)
		}
	}
	return nil
}

func (a *Admin) proveURL(ctx context.Context, e hook.Endpoint, secret string) error {
	if e.TLS.On() && e.TLS.Material == nil {
		stored, err := a.Store.TLSMaterial(ctx, e.Tenant, e.ID)
		if err != nil {
			return fmt.Errorf("read TLS settings of endpoint %s: %w", e.ID, err)
		}
		e.TLS.Material = &stored
	}
	if err := a.Prover.Prove(ctx, e, secret); err != nil {
		return fmt.Errorf("verify endpoint %s: %w", e.ID, err)
	}
	return nil
}
