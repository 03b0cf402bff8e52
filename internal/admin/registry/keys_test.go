package registry_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"surehook/internal/admin/page"
	"surehook/internal/hook"
)

func TestRegistry_keys(t *testing.T) {
	t.Parallel()

	b := setup(t)
	k, text, err := b.CreateKey(t.Context(), "backend", tenant, []hook.Scope{hook.ScopeEventsWrite})
	if err != nil || !regexp.MustCompile(`^shk_[A-Za-z0-9_-]{43}$`).MatchString(text) {
		t.Fatalf("CreateKey = %q, %v; want shk_ and 43 characters", text, err)
	}
	stored, err := b.store.KeyByHash(t.Context(), hook.HashKey(text))
	if err != nil || stored.ID != k.ID || stored.Tenant != tenant || !slices.Equal(stored.Scopes, k.Scopes) {
		t.Errorf("KeyByHash = %+v, %v; want %+v", stored, err, k)
	}
	_, other, err := b.CreateKey(t.Context(), "backend", hook.AllTenants, []hook.Scope{hook.ScopeAdmin, hook.ScopeRead})
	if err != nil || other == text {
		t.Errorf("second CreateKey = %v; want another key", err)
	}
	if list, err := b.ListKeys(t.Context(), page.Request{Limit: 1}); err != nil || len(list.Data) != 1 || list.Next == "" {
		t.Errorf("ListKeys = %v, %q, %v; want one of two", list.Data, list.Next, err)
	}
	if err := b.RevokeKey(t.Context(), k.ID); err != nil {
		t.Errorf("RevokeKey = %v", err)
	}
	if err := b.RevokeKey(t.Context(), k.ID); hook.CodeOf(err) != hook.CodeNotFound {
		t.Errorf("second RevokeKey = %v; want CodeNotFound", err)
	}
}

func TestRegistry_CreateKey_refusals(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name, keyName string
		tenant        hook.TenantID
		scopes        []hook.Scope
		want          []string
	}{
		{name: "nothing", keyName: "", tenant: "", scopes: nil, want: []string{"name", "tenant", "scopes"}},
		{name: "too long a name", keyName: strings.Repeat("a", 129), tenant: tenant, scopes: []hook.Scope{hook.ScopeRead}, want: []string{"name"}},
		{name: "a tenant that cannot be", keyName: "a", tenant: "a b", scopes: []hook.Scope{hook.ScopeRead}, want: []string{"tenant"}},
		{name: "an unknown scope", keyName: "a", tenant: tenant, scopes: []hook.Scope{hook.ScopeRead, "write"}, want: []string{"scopes[1]"}},
		{name: "a scope twice", keyName: "a", tenant: tenant, scopes: []hook.Scope{hook.ScopeRead, hook.ScopeRead}, want: []string{"scopes[1]"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			_, _, err := setup(t).CreateKey(t.Context(), tt.keyName, tt.tenant, tt.scopes)
			if got := fieldsOf(t, err); !slices.Equal(got, tt.want) {
				t.Errorf("CreateKey = %v; wrong fields %q, want %q", err, got, tt.want)
			}
		})
	}
}
