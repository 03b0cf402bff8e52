// Package apikey tells who makes a request from the API key it carries. It
// says who, not whether they may: that is each route's own decision.
package apikey

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"time"

	"surehook/internal/hook"
	"surehook/internal/names"
)

// AdminKeyID is the id of the key that the stack itself generated.
const AdminKeyID hook.KeyID = "key_stack_admin"

// apiKey is the form of every key: a prefix and at least 256 random bits.
var apiKey = regexp.MustCompile(`^` + hook.APIKeyPrefix + `[A-Za-z0-9_-]{43,64}$`)

// noteTimeout bounds how long a request waits for its key's use to be noted.
const noteTimeout = time.Second

var errNoteLate = errors.New("the store did not note the key's use in time")

// Keys finds API keys.
type Keys interface {
	// KeyByHash returns the key; CodeNotFound if there is none.
	KeyByHash(ctx context.Context, hash string) (hook.APIKey, error)
	// TouchKey records that the key was used on the day, as
	// hook.APIKey.LastUsedOn has it; CodeConflict if the key is gone, or that day
	// or a later one is recorded.
	TouchKey(ctx context.Context, k hook.APIKey, day string) error
}

// AdminKey knows the key that the stack generated.
type AdminKey interface {
	// AdminKey returns the key in clear.
	AdminKey(ctx context.Context) (string, error)
}

// Authenticator identifies callers. All fields are needed.
type Authenticator struct {
	Keys  Keys
	Admin AdminKey
	Log   *slog.Logger
	Now   func() time.Time
}

// Identify returns who the Authorization header speaks for, and notes the day
// on a stored key. CodeUnauthorized if it holds no known key; anything else is
// a fault of ours. The header must be "Bearer", one space and the key: what is
// repeated, padded or quoted is no key.
func (a *Authenticator) Identify(ctx context.Context, header string) (hook.Principal, error) {
	scheme, key, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "bearer") || !apiKey.MatchString(key) {
		return hook.Principal{}, unauthorized()
	}
	hash := hook.HashKey(key)
	known, err := a.Keys.KeyByHash(ctx, hash)
	if err == nil {
		a.note(ctx, known)
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

// note records the day on a stored key, once a day. A request does not fail for it.
func (a *Authenticator) note(ctx context.Context, k hook.APIKey) {
	today := a.Now().UTC().Format(time.DateOnly)
	if k.LastUsedOn >= today {
		return
	}
	ctx, cancel := context.WithTimeoutCause(ctx, noteTimeout, errNoteLate)
	defer cancel()

	err := a.Keys.TouchKey(ctx, k, today)
	if err == nil || hook.CodeOf(err) == hook.CodeConflict { // another request noted it, or the key was revoked just now
		return
	}
	a.Log.LogAttrs(ctx, slog.LevelWarn, "api_key.record_use_failed",
		slog.String(names.LogKey, string(k.ID)), slog.String(names.LogTenant, string(k.Tenant)), slog.Any(names.LogError, err))
}

func unauthorized() error {
	return &hook.Error{Code: hook.CodeUnauthorized, Message: "the API key is not known"}
}
