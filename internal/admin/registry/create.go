package registry

import (
	"context"
	"fmt"

	"surehook/internal/hook"
	"surehook/internal/rule/retry"
)

// Create stores a new active endpoint of the tenant. secret is its v1 signing
// secret, whsec_..., or empty to have one made; it is returned in clear this
// once. Every endpoint has a v1 secret, whatever it signs with, so that the
// scheme can be turned on later; a v1a key pair is made when the scheme is
// asked for.
//
// Errors: CodeInvalid names the wrong fields; CodeConflict when the uid is
// taken or the tenant has hook.MaxEndpointsPerTenant endpoints.
func (r *Registry) Create(ctx context.Context, tenant hook.TenantID, f Fields, secret string) (hook.Endpoint, string, error) {
	now := r.now()
	e := hook.Endpoint{
		ID:          hook.NewEndpointID(),
		Tenant:      tenant,
		EventTypes:  []string{"*"},
		Retry:       hook.RetryPolicy{Preset: retry.Presets()[0]},
		Timeout:     hook.DefaultTimeout,
		MaxAge:      hook.DefaultMaxAge,
		Style:       hook.StyleStandard,
		Schemes:     []hook.Scheme{hook.SchemeV1},
		Status:      hook.StatusActive,
		StatusSince: now,
		CreatedAt:   now,
		UpdatedAt:   now,
	}
	f.apply(&e)
	errs := r.check(e)
	secret, wrong := chosenSecret(secret)
	if errs = append(errs, wrong...); len(errs) > 0 {
		return hook.Endpoint{}, "", hook.Invalid(errs...)
	}

	sealed, err := r.sealSecret(ctx, e.ID, secret)
	if err != nil {
		return hook.Endpoint{}, "", fmt.Errorf("create endpoint %s: %w", e.ID, err)
	}
	e.Secrets = []hook.Secret{sealed}
	if err := r.completeSecrets(ctx, &e); err != nil {
		return hook.Endpoint{}, "", fmt.Errorf("create endpoint %s: %w", e.ID, err)
	}
	if err := r.Endpoints.CreateEndpoint(ctx, e); err != nil {
		return hook.Endpoint{}, "", fmt.Errorf("create endpoint %s: %w", e.ID, err)
	}
	e.Version = 1
	return e, secret, nil
}
