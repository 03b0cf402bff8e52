package apikey_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/admin/apikey"
	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
)

func TestIssuer(t *testing.T) {
	t.Parallel()

	store := memory.NewStore()
	i := &apikey.Issuer{Store: store, Now: noon}
	k, text, err := i.Create(t.Context(), apikey.Request{Name: "backend", Tenant: "acme", Scopes: []hook.Scope{hook.ScopeEventsWrite}})
	if err != nil || !regexp.MustCompile(`^shk_[A-Za-z0-9_-]{43}$`).MatchString(text) {
		t.Fatalf("Create = %q, %v; want shk_ and 43 characters", text, err)
	}
	stored, err := store.KeyByHash(t.Context(), hook.HashKey(text))
	if err != nil || stored.ID != k.ID || stored.Tenant != "acme" || !slices.Equal(stored.Scopes, k.Scopes) {
		t.Errorf("KeyByHash = %+v, %v; want %+v", stored, err, k)
	}
	_, other, err := i.Create(t.Context(), apikey.Request{Name: "backend", Tenant: hook.AllTenants, Scopes: []hook.Scope{hook.ScopeAdmin, hook.ScopeRead}})
	if err != nil || other == text {
		t.Errorf("second Create = %v; want another key", err)
	}
	if list, err := i.List(t.Context(), page.Request{Limit: 1}); err != nil || len(list.Data) != 1 || list.Next == "" {
		t.Errorf("List = %v, %q, %v; want one of two", list.Data, list.Next, err)
	}
	if _, err := i.Revoke(t.Context(), k.ID); err != nil {
		t.Errorf("Revoke = %v", err)
	}
	if _, err := i.Revoke(t.Context(), k.ID); hook.CodeOf(err) != hook.CodeNotFound {
		t.Errorf("second Revoke = %v; want CodeNotFound", err)
	}
}

func TestIssuer_Create_refusals(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name, keyName string
		tenant        hook.TenantID
		scopes        []hook.Scope
		expiresAt     time.Time
		networks      []string
		want          []string
	}{
		{name: "nothing", keyName: "", tenant: "", scopes: nil, want: []string{"name", "tenant", "scopes"}},
		{name: "too long a name", keyName: strings.Repeat("a", 129), tenant: "acme", scopes: []hook.Scope{hook.ScopeRead}, want: []string{"name"}},
		{name: "a name with a control character", keyName: "a\x1b[2Jb", tenant: "acme", scopes: []hook.Scope{hook.ScopeRead}, want: []string{"name"}},
		{name: "a tenant that is a dot segment", keyName: "a", tenant: "..", scopes: []hook.Scope{hook.ScopeRead}, want: []string{"tenant"}},
		{name: "an invalid tenant", keyName: "a", tenant: "a b", scopes: []hook.Scope{hook.ScopeRead}, want: []string{"tenant"}},
		{name: "an expiry now", keyName: "a", tenant: "acme", scopes: []hook.Scope{hook.ScopeRead}, expiresAt: noon(), want: []string{"expires_at"}},
		{name: "no network at all", keyName: "a", tenant: "acme", scopes: []hook.Scope{hook.ScopeRead}, networks: []string{}, want: []string{"allowed_networks"}},
		{name: "21 networks", keyName: "a", tenant: "acme", scopes: []hook.Scope{hook.ScopeRead}, networks: slices.Repeat([]string{"192.0.2.0/24"}, 21), want: []string{"allowed_networks"}},
		{
			name: "networks that are none", keyName: "a", tenant: "acme", scopes: []hook.Scope{hook.ScopeRead},
			networks: []string{"192.0.2.0/24", "192.0.2.1", "192.0.2.1/24", "::ffff:192.0.2.0/120", "2001:db8::/32", "2001:db8::1/32", "home", "192.0.2.0/33"},
			want: []string{
				"allowed_networks[1]", "allowed_networks[2]", "allowed_networks[3]", "allowed_networks[5]", "allowed_networks[6]", "allowed_networks[7]",
			},
		},
		{name: "an unknown scope", keyName: "a", tenant: "acme", scopes: []hook.Scope{hook.ScopeRead, "write"}, want: []string{"scopes[1]"}},
		{name: "a scope twice", keyName: "a", tenant: "acme", scopes: []hook.Scope{hook.ScopeRead, hook.ScopeRead}, want: []string{"scopes[1]"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			_, _, err := (&apikey.Issuer{Store: memory.NewStore(), Now: noon}).Create(t.Context(), apikey.Request{Name: tt.keyName, Tenant: tt.tenant, Scopes: tt.scopes, ExpiresAt: tt.expiresAt, Networks: tt.networks})
			known, ok := errors.AsType[*hook.Error](err)
			if !ok || known.Code != hook.CodeInvalid {
				t.Fatalf("Create = %v; want CodeInvalid", err)
			}
			var got []string
			for _, f := range known.Fields {
				got = append(got, f.Field)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("Create = %v; wrong fields %q, want %q", err, got, tt.want)
			}
		})
	}
}

// TestIssuer_faults checks that Issuer returns a fault of the store as a fault, and
// not as CodeNotFound.
func TestIssuer_faults(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name string
		do   func(ctx context.Context, i *apikey.Issuer) error
	}{
		{name: "list", do: func(ctx context.Context, i *apikey.Issuer) error {
			_, err := i.List(ctx, page.Request{Limit: 1})
			return err
		}},
		{name: "revoke", do: func(ctx context.Context, i *apikey.Issuer) error {
			_, err := i.Revoke(ctx, hook.NewKeyID())
			return err
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(&hook.Error{Code: hook.CodeUnavailable, Message: "the store did not answer"})
			err := tt.do(ctx, &apikey.Issuer{Store: memory.NewStore(), Now: noon})
			if code := hook.CodeOf(err); err == nil || code != hook.CodeUnavailable && code != hook.CodeInternal {
				t.Errorf("%s = %v; want a fault of the store", tt.name, err)
			}
		})
	}
}
