// Package tenant lists the tenants, and manages the limits that the operator sets for them.
//
// A tenant becomes known with its first endpoint, event or limit.
//
// The limits are optional. Package ingest applies the limits of events and the retention when it
// accepts an event, and the store applies the limit of endpoints. The package knows neither HTTP
// nor storage, and leaves authorization to package httpapi: only the operator sets limits.
package tenant

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
)

// Tenant is a known tenant.
type Tenant struct {
	ID        hook.TenantID
	Endpoints int
	Limits    hook.TenantLimits
}

// Store keeps the list and the limits of tenants. Reads are strongly consistent, but
// the list of ids may lag by a moment.
type Store interface {
	// Tenants returns the known tenants with the prefix, after the given tenant, in the
	// order of their ids, at most limit (1 to 100). Other tenants may follow after next; next
	// is empty at the end. A page may be short before the end.
	Tenants(ctx context.Context, prefix string, after hook.TenantID, limit int) (page []Tenant, next hook.TenantID, err error)
	// TenantLimits returns the limits of the tenant; the zero limits for a tenant
	// without limits. CodeTenantClosing for a tenant that is being erased.
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

// List returns a page of the known tenants with the prefix, in the order of their ids. A page
// takes two requests. Errors: CodeInvalid for a prefix with which no id can begin, and for a
// cursor of another list.
func (a *Admin) List(ctx context.Context, prefix string, p page.Request) (page.List[Tenant], error) {
	if !beginsID(prefix) {
		return page.List[Tenant]{}, hook.Invalid(hook.FieldError{Field: "prefix", Message: "must be the beginning of a tenant id"})
	}
	return page.After(page.Scope("tenants", prefix), p, func(after string) ([]Tenant, string, error) {
		if _, err := hook.ParseTenantID(after); after != "" && (err != nil || !strings.HasPrefix(after, prefix)) {
			return nil, "", page.InvalidCursor()
		}
		data, next, err := a.Store.Tenants(ctx, prefix, hook.TenantID(after), p.Limit)
		return data, string(next), err
	})
}

// beginsID reports whether a tenant id can begin with the prefix. Every id is a prefix, and so are
// three texts that are not ids.
func beginsID(prefix string) bool {
	_, err := hook.ParseTenantID(prefix)
	return err == nil || slices.Contains([]string{"", ".", ".."}, prefix)
}

// Limits returns the limits of the tenant; the zero limits for a tenant without limits, and for
// an unknown tenant.
func (a *Admin) Limits(ctx context.Context, tenant hook.TenantID) (hook.TenantLimits, error) {
	return a.Store.TenantLimits(ctx, tenant)
}

// SetLimits replaces all limits of the tenant. The zero limits remove all limits. The
// limits can precede the tenant's first endpoint. Existing endpoints stay, even if the
// tenant has more endpoints than the new limit.
//
// Errors: CodeInvalid names the wrong fields. malformed are fields of a wrong form,
// absent in l.
func (a *Admin) SetLimits(ctx context.Context, tenant hook.TenantID, l hook.TenantLimits, malformed ...hook.FieldError) error {
	if wrong := hook.AlsoWrong(malformed, hook.ValidateTenantLimits(l, a.Retention)); len(wrong) > 0 {
		return hook.Invalid(wrong...)
	}
	return a.Store.SetTenantLimits(ctx, tenant, l)
}

// Guard decides whether a tenant may be changed now.
type Guard struct {
	Store settle.TenantLimits
	Now   func() time.Time
}

// Check returns CodeTenantClosing for a tenant with an erasure under way, and counts the change of
// another one: past the limit ChangesPerHour it returns CodeThrottled. A change that is not counted
// is one of the limits themselves, or the end of a portal link, whose visitor may have used them up.
// Another process may mark the tenant after the check: the erasure finds the late change.
func (g Guard) Check(ctx context.Context, tenant hook.TenantID, counted bool) error {
	l, err := g.Store.TenantLimits(ctx, tenant)
	if err != nil {
		return fmt.Errorf("check tenant %s: %w", tenant, err)
	}
	if l.ChangesPerHour == 0 || !counted {
		return nil
	}
	wait, err := g.Store.Spend(ctx, tenant, hook.NewSpend(hook.SpentChanges, 1, l.ChangesPerHour, time.Hour, g.Now()))
	if err != nil {
		return fmt.Errorf("count changes of tenant %s: %w", tenant, err)
	}
	if wait > 0 {
		return fmt.Errorf("check tenant %s: %w", tenant, l.TooManyChanges(wait))
	}
	return nil
}
