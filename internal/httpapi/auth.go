package httpapi

import (
	"context"

	"surehook/internal/hook"
)

type principalKey struct{}

// WithPrincipal returns a context with the authenticated caller.
func WithPrincipal(ctx context.Context, p hook.Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// PrincipalFrom returns the authenticated caller; false without WithPrincipal.
func PrincipalFrom(ctx context.Context) (hook.Principal, bool) {
	p, ok := ctx.Value(principalKey{}).(hook.Principal)
	return p, ok
}

// admit authorizes the caller for the route and sets c.principal and c.tenant.
// Tenants of other callers answer as unknown tenants. Surehook's own deliveries are
// refused: one event could become a delivery, a batch of events, and more deliveries.
func admit(ctx context.Context, r Route, c *call) error {
	if r.Public {
		return nil
	}
	principal, ok := PrincipalFrom(ctx)
	if !ok {
		return &hook.Error{Code: hook.CodeUnauthorized, Message: "a valid API key is needed"}
	}
	c.principal = principal
	if len(c.r.Header.Values(hook.DeliveryHeader)) > 0 {
		return &hook.Error{Code: hook.CodeLoop, Message: "the request has the header " + hook.DeliveryHeader + ": deliveries cannot call the API"}
	}
	if !principal.May(r.Scope) {
		return &hook.Error{Code: hook.CodeForbidden, Message: "the API key lacks the scope " + string(r.Scope)}
	}
	if r.AllTenants {
		if principal.Tenant != hook.AllTenants {
			return &hook.Error{Code: hook.CodeForbidden, Message: "the API key must act for all tenants"}
		}
		return nil
	}
	tenant, err := hook.ParseTenantID(c.r.PathValue("tenant"))
	if err != nil || !principal.ActsFor(tenant) {
		return hook.NotFound("tenant")
	}
	c.tenant = tenant
	return nil
}
