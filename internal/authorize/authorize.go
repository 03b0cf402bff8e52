// Package authorize tells who makes a request from the API key it carries. It
// says who, not whether they may: that is each route's own decision.
package authorize

import (
	"context"
	"crypto/subtle"
	"fmt"
	"regexp"
	"strings"

	"surehook/internal/hook"
)

// AdminKeyID is the id of the key that the stack itself generated.
const AdminKeyID hook.KeyID = "key_stack_admin"

// apiKey is the form of every key: a prefix and at least 256 random bits.
var apiKey = regexp.MustCompile(`^` + hook.APIKeyPrefix + `[A-Za-z0-9_-]{43,64}$`)

// Keys finds API keys.
type Keys interface {
	// KeyByHash returns the key; CodeNotFound if there is none.
	KeyByHash(ctx context.Context, hash string) (hook.APIKey, error)
}

// AdminKey knows the key that the stack generated.
type AdminKey interface {
	// AdminKey returns the key in clear.
	AdminKey(ctx context.Context) (string, error)
}

// Authenticator identifies callers.
type Authenticator struct {
	Keys  Keys
	Admin AdminKey
}

// Identify returns who the Authorization header speaks for. CodeUnauthorized
// if it holds no known key; anything else is a fault of ours.
func (a *Authenticator) Identify(ctx context.Context, header string) (hook.Principal, error) {
	scheme, key, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "bearer") || !apiKey.MatchString(key) {
		return hook.Principal{}, unauthorized()
	}
	hash := hook.HashKey(key)
	known, err := a.Keys.KeyByHash(ctx, hash)
	if err == nil {
		return hook.Principal{Key: known.ID, Tenant: known.Tenant, Scopes: known.Scopes}, nil
	}
	if hook.CodeOf(err) != hook.CodeNotFound {
		return hook.Principal{}, fmt.Errorf("look up key: %w", err)
	}
	admin, err := a.Admin.AdminKey(ctx)
	if err != nil {
		return hook.Principal{}, fmt.Errorf("read the stack's admin key: %w", err)
	}
	if subtle.ConstantTimeCompare([]byte(hook.HashKey(admin)), []byte(hash)) != 1 {
		return hook.Principal{}, unauthorized()
	}
	return hook.Principal{Key: AdminKeyID, Tenant: hook.AllTenants, Scopes: []hook.Scope{hook.ScopeAdmin}}, nil
}

func unauthorized() error {
	return &hook.Error{Code: hook.CodeUnauthorized, Message: "the API key is not known"}
}
