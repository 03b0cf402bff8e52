package registry

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"surehook/internal/admin/page"
	"surehook/internal/hook"
)

const (
	maxKeyName = 128 // bytes
	keyBytes   = 32  // of randomness in an API key
)

// CreateKey stores a new API key and returns it in clear, this once. tenant is
// the one it acts for, or hook.AllTenants. CodeInvalid names the wrong fields.
func (r *Registry) CreateKey(ctx context.Context, name string, tenant hook.TenantID, scopes []hook.Scope) (hook.APIKey, string, error) {
	if errs := validateKey(name, tenant, scopes); len(errs) > 0 {
		return hook.APIKey{}, "", hook.Invalid(errs...)
	}
	var random [keyBytes]byte
	_, _ = rand.Read(random[:]) // never fails: crypto/rand crashes the program instead
	text := hook.APIKeyPrefix + base64.RawURLEncoding.EncodeToString(random[:])
	k := hook.APIKey{
		ID:        hook.NewKeyID(),
		Name:      name,
		Tenant:    tenant,
		Scopes:    scopes,
		Hash:      hook.HashKey(text),
		CreatedAt: r.now(),
	}
	if err := r.Keys.PutKey(ctx, k); err != nil {
		return hook.APIKey{}, "", fmt.Errorf("create key %s: %w", k.ID, err)
	}
	return k, text, nil
}

// ListKeys returns a page of all API keys, in the order of their ids.
func (r *Registry) ListKeys(ctx context.Context, p page.Request) (page.List[hook.APIKey], error) {
	all, err := r.Keys.Keys(ctx)
	if err != nil {
		return page.List[hook.APIKey]{}, fmt.Errorf("list keys: %w", err)
	}
	return page.Of(all, page.Scope("keys"), p, func(k hook.APIKey) string { return string(k.ID) })
}

// RevokeKey removes the key; CodeNotFound if there is none such. It may be
// accepted a few minutes longer where its check is cached.
func (r *Registry) RevokeKey(ctx context.Context, id hook.KeyID) error {
	if err := r.Keys.DeleteKey(ctx, id); err != nil {
		return missing("key", fmt.Errorf("revoke key %s: %w", id, err))
	}
	return nil
}

func validateKey(name string, tenant hook.TenantID, scopes []hook.Scope) []hook.FieldError {
	var errs []hook.FieldError
	if name == "" || len(name) > maxKeyName {
		errs = append(errs, hook.FieldError{Field: "name", Message: fmt.Sprintf("must be 1 to %d bytes", maxKeyName)})
	}
	if tenant != hook.AllTenants {
		if _, err := hook.ParseTenantID(string(tenant)); err != nil {
			errs = append(errs, hook.FieldError{Field: "tenant", Message: `must be 1 to 64 of A-Z a-z 0-9 _ . - or "*" for all`})
		}
	}
	if len(scopes) == 0 {
		errs = append(errs, hook.FieldError{Field: "scopes", Message: "must name at least one of " + allScopes()})
	}
	for i, s := range scopes {
		field := fmt.Sprintf("scopes[%d]", i)
		switch {
		case !slices.Contains(hook.Scopes(), s):
			errs = append(errs, hook.FieldError{Field: field, Message: "must be one of " + allScopes()})
		case slices.Contains(scopes[:i], s):
			errs = append(errs, hook.FieldError{Field: field, Message: "is named twice"})
		}
	}
	return errs
}

func allScopes() string {
	all := hook.Scopes()
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = string(s)
	}
	return strings.Join(names, ", ")
}
