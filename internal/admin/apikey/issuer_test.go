package apikey_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"surehook/internal/admin/apikey"
	"surehook/internal/admin/page"
	"surehook/internal/hook"
	"surehook/internal/memory"
)

func TestIssuer(t *testing.T) {
	t.Parallel()

	store := memory.NewStore()
	i := &apikey.Issuer{Store: store, Now: noon}
	k, text, err := i.Create(t.Context(), "backend", "acme", []hook.Scope{hook.ScopeEventsWrite})
	if err != nil || !regexp.MustCompile(`^shk_[A-Za-z0-9_-]{43}$`).MatchString(text) {
		t.Fatalf("Create = %q, %v; want shk_ and 43 characters", text, err)
	}
	stored, err := store.KeyByHash(t.Context(), hook.HashKey(text))
	if err != nil || stored.ID != k.ID || stored.Tenant != "acme" || !slices.Equal(stored.Scopes, k.Scopes) {
		t.Errorf("KeyByHash = %+v, %v; want %+v", stored, err, k)
	}
	_, other, err := i.Create(t.Context(), "backend", hook.AllTenants, []hook.Scope{hook.ScopeAdmin, hook.ScopeRead})
	if err != nil || other == text {
		t.Errorf("second Create = %v; want another key", err)
	}
	if list, err := i.List(t.Context(), page.Request{Limit: 1}); err != nil || len(list.Data) != 1 || list.Next == "" {
		t.Errorf("List = %v, %q, %v; want one of two", list.Data, list.Next, err)
	}
	if err := i.Revoke(t.Context(), k.ID); err != nil {
		t.Errorf("Revoke = %v", err)
	}
	if err := i.Revoke(t.Context(), k.ID); hook.CodeOf(err) != hook.CodeNotFound {
		t.Errorf("second Revoke = %v; want CodeNotFound", err)
	}
}

func TestIssuer_Create_refusals(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name, keyName string
		tenant        hook.TenantID
		scopes        []hook.Scope
		want          []string
	}{
		{name: "nothing", keyName: "", tenant: "", scopes: nil, want: []string{"name", "tenant", "scopes"}},
		{name: "too long a name", keyName: strings.Repeat("a", 129), tenant: "acme", scopes: []hook.Scope{hook.ScopeRead}, want: []string{"name"}},
		{name: "a name with a control character", keyName: "a\x1b[2Jb", tenant: "acme", scopes: []hook.Scope{hook.ScopeRead}, want: []string{"name"}},
		{name: "a tenant that is a dot segment", keyName: "a", tenant: "..", scopes: []hook.Scope{hook.ScopeRead}, want: []string{"tenant"}},
		{name: "an invalid tenant", keyName: "a", tenant: "a b", scopes: []hook.Scope{hook.ScopeRead}, want: []string{"tenant"}},
		{name: "an unknown scope", keyName: "a", tenant: "acme", scopes: []hook.Scope{hook.ScopeRead, "write"}, want: []string{"scopes[1]"}},
		{name: "a scope twice", keyName: "a", tenant: "acme", scopes: []hook.Scope{hook.ScopeRead, hook.ScopeRead}, want: []string{"scopes[1]"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			_, _, err := (&apikey.Issuer{Store: memory.NewStore(), Now: noon}).Create(t.Context(), tt.keyName, tt.tenant, tt.scopes)
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
		{name: "revoke", do: func(ctx context.Context, i *apikey.Issuer) error { return i.Revoke(ctx, hook.NewKeyID()) }},
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
