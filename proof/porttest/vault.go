package porttest

import (
	"bytes"
	"slices"
	"testing"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/delivery/attempt"
	"surehook.example/surehook/internal/hook"
)

const (
	clearSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	vaultTenant = hook.TenantID("acme")
)

// SecretVault seals and opens secrets.
type SecretVault interface {
	endpoint.Vault
	attempt.Vault
}

// Vault tests an implementation of both ports.
func Vault(t *testing.T, newVault func(t *testing.T) SecretVault) {
	t.Helper()

	endpoint, other := hook.NewEndpointID(), hook.NewEndpointID()

	t.Run("a sealed secret opens", func(t *testing.T) {
		t.Parallel()

		v := newVault(t)
		sealed := seal(t, v, endpoint)
		if bytes.Contains(sealed, []byte(clearSecret)) {
			t.Error("the sealed secret holds the secret in clear")
		}
		for range 2 {
			got, err := v.Open(t.Context(), sealed, vaultTenant, endpoint)
			if err != nil || got != clearSecret {
				t.Errorf("Open(Seal(%q)) = %q, %v; want the secret", clearSecret, got, err)
			}
		}
	})

	t.Run("a secret does not open for another endpoint or tenant, even after it was opened", func(t *testing.T) {
		t.Parallel()

		v := newVault(t)
		sealed := seal(t, v, endpoint)
		for range 2 {
			shut(t, v, sealed, vaultTenant, other)
			shut(t, v, sealed, "globex", endpoint)
			if got, err := v.Open(t.Context(), sealed, vaultTenant, endpoint); err != nil || got != clearSecret {
				t.Fatalf("Open for the endpoint = %q, %v; want the secret", got, err)
			}
		}
	})

	t.Run("secrets of two tenants open", func(t *testing.T) {
		t.Parallel()

		v := newVault(t)
		for _, tenant := range []hook.TenantID{"acme", "globex"} {
			sealed, err := v.Seal(t.Context(), clearSecret, tenant, endpoint)
			if err != nil {
				t.Fatalf("Seal for %s = %v; want nil", tenant, err)
			}
			if got, err := v.Open(t.Context(), sealed, tenant, endpoint); err != nil || got != clearSecret {
				t.Errorf("Open for %s = %q, %v; want the secret", tenant, got, err)
			}
		}
	})

	t.Run("a changed or shortened secret does not open", func(t *testing.T) {
		t.Parallel()

		v := newVault(t)
		sealed := seal(t, v, endpoint)
		for _, i := range []int{0, 1, len(sealed) / 2, len(sealed) - 1} {
			changed := slices.Clone(sealed)
			changed[i] ^= 1
			shut(t, v, changed, vaultTenant, endpoint)
		}
		shut(t, v, sealed[:len(sealed)-1], vaultTenant, endpoint)
		shut(t, v, nil, vaultTenant, endpoint)
	})

	t.Run("two seals of one secret differ", func(t *testing.T) {
		t.Parallel()

		v := newVault(t)
		if bytes.Equal(seal(t, v, endpoint), seal(t, v, endpoint)) {
			t.Error("Seal twice = the same bytes; want different bytes")
		}
	})
}

func seal(t *testing.T, v SecretVault, endpoint hook.EndpointID) []byte {
	t.Helper()

	sealed, err := v.Seal(t.Context(), clearSecret, vaultTenant, endpoint)
	if err != nil {
		t.Fatalf("Seal(%q, %s) = %v; want nil", clearSecret, endpoint, err)
	}
	return sealed
}

func shut(t *testing.T, v SecretVault, sealed []byte, tenant hook.TenantID, endpoint hook.EndpointID) {
	t.Helper()

	got, err := v.Open(t.Context(), sealed, tenant, endpoint)
	if got != "" || hook.CodeOf(err) != hook.CodeInternal || err == nil {
		t.Errorf("Open(%d bytes, %s, %s) = %q, %v; want an internal error", len(sealed), tenant, endpoint, got, err)
	}
}
