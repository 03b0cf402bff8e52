package httpapi

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"surehook.example/surehook/internal/hook"
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

// admit authorizes the caller for the route and sets c.principal and c.tenant; for a public route
// only c.tenant. A tenant that the caller may not access looks like an unknown tenant. Surehook's
// own deliveries are refused: otherwise one event could become a delivery, the delivery a batch
// of events, and so on.
func admit(ctx context.Context, r Route, c *call) error {
	if r.Public {
		return c.enter(r, func(hook.TenantID) bool { return true })
	}
	principal, ok := PrincipalFrom(ctx)
	if !ok {
		return &hook.Error{Code: hook.CodeUnauthorized, Message: "a valid API key is needed"}
	}
	c.principal = principal
	// API Gateway caches the authorizer's result by the header alone, so the restriction of the
	// key is checked here, for each request.
	if err := principal.Admit(c.began, remoteAddr(c.r)); err != nil {
		return err
	}
	if len(c.r.Header.Values(hook.DeliveryHeader)) > 0 {
		return &hook.Error{Code: hook.CodeLoop, Message: "the request has the header " + hook.DeliveryHeader + ": deliveries cannot call the API"}
	}
	if !r.Own && !principal.May(r.Scope) {
		return principal.Lacks(r.Scope)
	}
	if r.AllTenants && principal.Tenant != hook.AllTenants {
		return &hook.Error{Code: hook.CodeForbidden, Message: "the API key must act for all tenants"}
	}
	if r.NoPerson && principal.Key.IsPerson() {
		return &hook.Error{Code: hook.CodeForbidden, Message: "people cannot do this: an API key is needed"}
	}
	return c.enter(r, principal.ActsFor)
}

// enter sets c.tenant to the tenant of the path, if there is one.
func (c *call) enter(r Route, allowed func(hook.TenantID) bool) error {
	if !strings.HasPrefix(r.Path, tenantPath) {
		return nil
	}
	tenant, err := hook.ParseTenantID(c.r.PathValue("tenant"))
	if err != nil {
		return err
	}
	if !allowed(tenant) {
		return hook.NotFound("tenant")
	}
	c.tenant = tenant
	return nil
}

// locate returns the path of a record of the tenant.
func (c *call) locate(kind, id string) string {
	return "/v1/tenants/" + url.PathEscape(string(c.tenant)) + "/" + kind + "/" + id
}

// remoteAddr returns the address of the connection: "192.0.2.1" from API Gateway's request
// context, or "192.0.2.1:80" from net/http. Headers such as X-Forwarded-For are ignored, because
// the caller can write anything into them.
func remoteAddr(r *http.Request) netip.Addr {
	if host, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		return host.Addr()
	}
	addr, _ := netip.ParseAddr(r.RemoteAddr) // an address that cannot be read is in no network
	return addr
}

// callerView is the caller as the routes see it.
type callerView struct {
	ID        hook.KeyID    `json:"id"`
	Name      string        `json:"name"`
	Tenant    hook.TenantID `json:"tenant"`
	Scopes    []hook.Scope  `json:"scopes"`
	ExpiresAt time.Time     `json:"expires_at,omitzero"`

	Environment string `json:"environment,omitzero"` // of the deployment
}

// getCaller returns the caller of the request, without a read.
func (h *manage) getCaller(_ context.Context, c *call) (reply, error) {
	p := c.principal
	return ok(callerView{ID: p.Key, Name: p.Name, Tenant: p.Tenant, Scopes: p.Scopes, ExpiresAt: p.ExpiresAt, Environment: h.Environment}), nil
}
