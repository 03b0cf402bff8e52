package apikey

import (
	"context"
	"fmt"
	"slices"
	"time"

	"surehook/internal/hook"
)

// Lifetimes of the key of a portal link.
const (
	MinPortalTTL     = time.Minute
	MaxPortalTTL     = 24 * time.Hour
	DefaultPortalTTL = time.Hour
)

// portalKeyName names the keys of portal links in the list of keys and in records of changes.
const portalKeyName = "portal link"

// PortalScopes returns the scopes that a portal link can have, and has by default.
func PortalScopes() []hook.Scope {
	return []hook.Scope{hook.ScopeRead, hook.ScopeEndpointsWrite, hook.ScopeReplay}
}

// CreatePortal stores a key of the tenant for a portal link and returns the key and its
// clear text. Without scopes, the key has all of PortalScopes. CodeInvalid names the wrong
// fields.
func (i *Issuer) CreatePortal(ctx context.Context, tenant hook.TenantID, ttl time.Duration, scopes []hook.Scope) (hook.APIKey, string, error) {
	var errs []hook.FieldError
	if ttl < MinPortalTTL || ttl > MaxPortalTTL {
		errs = append(errs, hook.FieldError{Field: "ttl", Message: "must be from 1m to 24h"})
	}
	if scopes == nil {
		scopes = PortalScopes()
	}
	for n, s := range scopes {
		if !slices.Contains(PortalScopes(), s) {
			errs = append(errs, hook.FieldError{Field: fmt.Sprintf("scopes[%d]", n), Message: "must be one of read, endpoints:write, replay"})
		}
	}
	if len(errs) > 0 {
		return hook.APIKey{}, "", hook.Invalid(errs...)
	}
	return i.Create(ctx, Request{Name: portalKeyName, Tenant: tenant, Scopes: scopes, ExpiresAt: i.Now().UTC().Truncate(time.Millisecond).Add(ttl)})
}
