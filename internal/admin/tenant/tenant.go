// Package tenant manages the operator's limits of tenants.
//
// The limits are optional. Package ingest applies the limits of events before the
// acceptance of an event, and the store applies the limit of endpoints. The package
// knows neither HTTP nor storage, and leaves the authorization to package httpapi:
// only the operator sets limits.
package tenant

import (
	"context"
	"fmt"
	"time"

	"surehook/internal/hook"
)

// Store keeps the limits of tenants. Reads are strongly consistent.
type Store interface {
	// TenantLimits returns the limits of the tenant; the zero limits for a tenant
	// without limits.
	TenantLimits(ctx context.Context, tenant hook.TenantID) (hook.TenantLimits, error)
	// SetTenantLimits replaces all limits of the tenant and changes the version of
	// the tenant. Of two concurrent calls the last call wins.
	SetTenantLimits(ctx context.Context, tenant hook.TenantID, l hook.TenantLimits) error
}

// Admin manages limits. All fields are required.
type Admin struct {
	Store     Store
	Retention time.Duration // of events in the environment
}

// Limits returns the limits of the tenant. A tenant is unknown until its first
// endpoint, and has no limits then.
func (a *Admin) Limits(ctx context.Context, tenant hook.TenantID) (hook.TenantLimits, error) {
	l, err := a.Store.TenantLimits(ctx, tenant)
	if err != nil {
		return hook.TenantLimits{}, fmt.Errorf("read limits: %w", err)
	}
	return l, nil
}

// SetLimits replaces all limits of the tenant. The zero limits remove all limits. The
// limits can precede the tenant's first endpoint. Existing endpoints stay, even if the
// tenant has more endpoints than the new limit.
//
// Errors: CodeInvalid names the wrong fields.
func (a *Admin) SetLimits(ctx context.Context, tenant hook.TenantID, l hook.TenantLimits) error {
	if wrong := hook.ValidateTenantLimits(l, a.Retention); len(wrong) > 0 {
		return hook.Invalid(wrong...)
	}
	if err := a.Store.SetTenantLimits(ctx, tenant, l); err != nil {
		return fmt.Errorf("set limits: %w", err)
	}
	return nil
}
