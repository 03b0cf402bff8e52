package endpoint

import (
	"context"
	"fmt"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/retry"
	"surehook.example/surehook/internal/store"
)

// Create stores a new active endpoint of the tenant and returns the endpoint
// and the clear text of the v1 signing secret. secret is the v1 secret
// (whsec_...), or empty to generate a secret. No later call returns the clear text.
//
// Every endpoint has a v1 secret, even with scheme v1a alone, so a later change
// can add scheme v1. Scheme v1a makes Create generate a key pair.
//
// With a Prover, the receiver is asked before anything is stored.
//
// Errors: CodeInvalid names the wrong fields; CodeUnverified if the receiver does not confirm;
// CodeConflict when the uid is taken or the tenant has as many endpoints as it may;
// CodeForbidden when the tenant has hook.MaxEndpointsPerURL endpoints with the URL, or PerHost
// with its host.
func (a *Admin) Create(ctx context.Context, tenant hook.TenantID, f Fields, secret string) (hook.Endpoint, string, error) {
	now := a.now()
	e := hook.Endpoint{
		ID:          hook.NewEndpointID(),
		Tenant:      tenant,
		EventTypes:  []string{"*"},
		Retry:       hook.RetryPolicy{Preset: retry.Presets()[0]},
		Timeout:     hook.DefaultTimeout,
		MaxAge:      hook.DefaultMaxAge,
		AutoDisable: true,
		Envelope:    a.Envelope,
		Schemes:     []hook.Scheme{hook.SchemeV1},
		Profiles:    hook.ProfilesNamed(hook.ProfileStandard),
		Status:      hook.StatusActive,
		StatusSince: now,
		CreatedAt:   now,
		UpdatedAt:   now,
	}.Sharded(1)
	if f.Profiles == nil && len(a.NewProfiles) > 0 {
		f.Profiles = &a.NewProfiles
	}
	errs, err := a.apply(ctx, f, &e)
	if err != nil {
		return hook.Endpoint{}, "", fmt.Errorf("create endpoint %s: %w", e.ID, err)
	}
	secret, wrong := chosenSecret(secret)
	if errs = hook.AlsoWrong(f.Wrong, append(errs, wrong...)); len(errs) > 0 {
		return hook.Endpoint{}, "", hook.Invalid(errs...)
	}

	if err := a.prove(ctx, hook.Endpoint{}, e, secret); err != nil {
		return hook.Endpoint{}, "", err
	}
	sealed, err := a.sealSecret(ctx, e, secret)
	if err != nil {
		return hook.Endpoint{}, "", fmt.Errorf("create endpoint %s: %w", e.ID, err)
	}
	e.Secrets = []hook.Secret{sealed}
	if err := a.seal(ctx, &e); err != nil {
		return hook.Endpoint{}, "", fmt.Errorf("create endpoint %s: %w", e.ID, err)
	}
	tries := 1 // without a limit per host, a second one could not turn out differently
	if a.PerHost > 0 {
		tries = placeTries
	}
	err = store.Repeat(ctx, a.Wait, tries, func() error {
		if err := a.place(ctx, &e, ""); err != nil {
			return err
		}
		return a.Store.CreateEndpoint(ctx, e)
	})
	if err != nil {
		return hook.Endpoint{}, "", fmt.Errorf("create endpoint %s: %w", e.ID, err)
	}
	e.Version, e.TenantVersion = 1, nil
	a.changed(hook.Endpoint{}, e)
	return e, secret, nil
}
