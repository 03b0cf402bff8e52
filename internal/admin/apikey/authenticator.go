// Package apikey issues API keys and authenticates callers by their key.
// Handlers authorize callers: package httpapi checks scope and tenant.
//
// # Keys
//
// A key is hook.APIKeyPrefix and 43 characters of base64url for 256 random bits.
// The store holds only the SHA-256 of the key. Issuer.Create returns the key in
// plain text, once.
//
// # Keys of portal links
//
// A portal link has a code instead of a key. Links.Open takes the code once and makes the
// key, which lives as long as the link.
//
// # The admin key
//
// At deployment, the stack generates one key with scope admin for all tenants. It
// has no record in the store; AdminKey returns its plain text.
package apikey

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// AdminKeyID is the id of the admin key.
const AdminKeyID hook.KeyID = "key_stack_admin"

const adminKeyName = "admin key of the stack"

// touchTimeout limits by how long TouchKey can delay a request.
const touchTimeout = time.Second

var errTouchTimeout = errors.New("recording the last use of the key took too long")

// Keys finds stored API keys.
type Keys interface {
	// KeyByHash returns the key; CodeNotFound if the hash is unknown.
	KeyByHash(ctx context.Context, hash string) (hook.APIKey, error)
	// TouchKey records day as the day of the last use, in the form of
	// hook.APIKey.LastUsedOn. CodeConflict if the key was revoked, or if the same or
	// a later day is recorded.
	TouchKey(ctx context.Context, k hook.APIKey, day string) error
}

// AdminKey reads the admin key.
type AdminKey interface {
	// AdminKey returns the clear text of the key.
	AdminKey(ctx context.Context) (string, error)
}

// People identifies people by their tokens.
type People interface {
	// Identify returns the person; CodeUnauthorized if the token is not valid.
	Identify(ctx context.Context, token string) (hook.Principal, error)
}

// Authenticator identifies callers. All fields but People are required.
type Authenticator struct {
	Keys   Keys
	Admin  AdminKey
	People People // nil: only API keys
	Log    *slog.Logger
	Now    func() time.Time
}

// Identify returns the caller named by the Authorization header, and records the day of use on a
// stored key. The header must be "Bearer", one space and the key, or a person's token. Anything
// else is refused, such as repeated, padded or quoted keys.
//
// CodeUnauthorized means that the header holds no known key, an expired key, or no valid token.
// The caller of Identify must check the principal's restriction for each request. Any other error
// is an internal fault, or one of the issuer.
func (a *Authenticator) Identify(ctx context.Context, header string) (hook.Principal, error) {
	scheme, key, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "bearer") {
		return hook.Principal{}, unauthorized()
	}
	// A token has two dots, and a key has none.
	if a.People != nil && strings.Count(key, ".") == 2 && !strings.ContainsAny(key, " ,") {
		p, err := a.People.Identify(ctx, key)
		if err != nil {
			return hook.Principal{}, fmt.Errorf("identify person: %w", err)
		}
		return p, nil
	}
	if !hook.LooksLikeKey(key) {
		return hook.Principal{}, unauthorized()
	}
	hash := hook.HashKey(key)
	known, err := a.Keys.KeyByHash(ctx, hash)
	if err == nil {
		if known.Expired(a.Now()) {
			return hook.Principal{}, unauthorized()
		}
		a.touch(ctx, known)
		return hook.Principal{Key: known.ID, Name: known.Name, Tenant: known.Tenant, Scopes: known.Scopes, Restriction: known.Restriction}, nil
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
	return hook.Principal{Key: AdminKeyID, Name: adminKeyName, Tenant: hook.AllTenants, Scopes: []hook.Scope{hook.ScopeAdmin}}, nil
}

// touch records the day of use on a stored key, once a day. A failure is only logged. Keys of
// portal links are left out, because they live for a day at most.
func (a *Authenticator) touch(ctx context.Context, k hook.APIKey) {
	today := a.Now().UTC().Format(time.DateOnly)
	if k.OfLink || k.LastUsedOn >= today {
		return
	}
	ctx, cancel := context.WithTimeoutCause(ctx, touchTimeout, errTouchTimeout)
	defer cancel()

	err := a.Keys.TouchKey(ctx, k, today)
	if err == nil || hook.CodeOf(err) == hook.CodeConflict { // a conflict: another request recorded the day, or the key has just been revoked
		return
	}
	a.Log.LogAttrs(ctx, slog.LevelWarn, "api_key.record_use_failed",
		slog.String(names.LogKey, string(k.ID)), slog.String(names.LogTenant, string(k.Tenant)), slog.Any(names.LogError, err))
}

func unauthorized() error {
	return &hook.Error{Code: hook.CodeUnauthorized, Message: "the API key is not known"}
}
