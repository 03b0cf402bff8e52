package apikey_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/admin/apikey"
	"surehook.example/surehook/internal/hook"
)

type keys map[string]hook.APIKey

func (k keys) KeyByHash(_ context.Context, hash string) (hook.APIKey, error) {
	if hash == hook.HashKey(brokenKey) {
		return hook.APIKey{}, &hook.Error{Code: hook.CodeUnavailable, Message: "throttled"}
	}
	if key, ok := k[hash]; ok {
		return key, nil
	}
	return hook.APIKey{}, hook.NotFound("key")
}

func (k keys) TouchKey(context.Context, hook.APIKey, string) error { return nil }

type admin struct {
	key string
	err error
}

func (a admin) AdminKey(context.Context) (string, error) { return a.key, a.err }

var (
	acmeKey   = "shk_" + strings.Repeat("a", 43)
	adminKey  = "shk_" + strings.Repeat("b", 43)
	brokenKey = "shk_" + strings.Repeat("c", 43)
	otherKey  = "shk_" + strings.Repeat("d", 43)
)

func noon() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

func TestAuthenticator_Identify(t *testing.T) {
	t.Parallel()

	acme := hook.Principal{Key: "key_1", Tenant: "acme", Scopes: []hook.Scope{hook.ScopeRead}}
	stored := keys{hook.HashKey(acmeKey): {ID: acme.Key, Tenant: acme.Tenant, Scopes: acme.Scopes}}
	tests := []struct {
		name   string
		header string
		admin  admin
		want   hook.Principal
		code   hook.Code
	}{
		{name: "a stored key", header: "Bearer " + acmeKey, admin: admin{key: adminKey}, want: acme},
		{name: "the scheme in lower case", header: "bearer " + acmeKey, admin: admin{key: adminKey}, want: acme},
		{
			name: "the stack's admin key", header: "Bearer " + adminKey, admin: admin{key: adminKey},
			want: hook.Principal{Key: apikey.AdminKeyID, Name: "admin key of the stack", Tenant: hook.AllTenants, Scopes: []hook.Scope{hook.ScopeAdmin}},
		},
		{name: "an unknown key", header: "Bearer " + otherKey, admin: admin{key: adminKey}, code: hook.CodeUnauthorized},
		{name: "a key without its prefix", header: "Bearer " + acmeKey[4:], admin: admin{key: adminKey}, code: hook.CodeUnauthorized},
		{name: "another scheme", header: "Basic " + acmeKey, admin: admin{key: adminKey}, code: hook.CodeUnauthorized},
		{name: "nothing", admin: admin{key: adminKey}, code: hook.CodeUnauthorized},
		{name: "a bare scheme, with no admin key to compare", header: "Bearer ", code: hook.CodeUnauthorized},
		{name: "the table does not answer", header: "Bearer " + brokenKey, admin: admin{key: adminKey}, code: hook.CodeUnavailable},
		{name: "the admin key cannot be read", header: "Bearer " + otherKey, admin: admin{err: errors.New("boom")}, code: hook.CodeInternal},
		{name: "a stored key needs no admin key", header: "Bearer " + acmeKey, admin: admin{err: errors.New("boom")}, want: acme},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			a := &apikey.Authenticator{Keys: stored, Admin: tt.admin, Log: slog.New(slog.DiscardHandler), Now: noon}
			got, err := a.Identify(t.Context(), tt.header)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Identify(%s) differs (-want +got):\n%s", tt.header, diff)
			}
			if tt.code == 0 && err != nil || tt.code != 0 && (err == nil || hook.CodeOf(err) != tt.code) {
				t.Errorf("Identify(%s) = %v; want code %s", tt.header, err, tt.code)
			}
		})
	}
}
