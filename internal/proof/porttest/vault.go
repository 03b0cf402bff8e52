package porttest

import (
	"bytes"
	"slices"
	"testing"

	"surehook/internal/admin/endpoint"
	"surehook/internal/delivery/deliver"
	"surehook/internal/hook"
)

const clearSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// SecretVault seals and opens secrets.
type SecretVault interface {
	endpoint.Vault
	deliver.Vault
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
			got, err := v.Open(t.Context(), sealed, endpoint)
			if err != nil || got != clearSecret {
				t.Errorf("Open(Seal(%q)) = %q, %v; want the secret", clearSecret, got, err)
			}
		}
	})

	t.Run("a secret does not open for another endpoint, even after it was opened", func(t *testing.T) {
		t.Parallel()

		v := newVault(t)
		sealed := seal(t, v, endpoint)
		shut(t, v, sealed, other)
		if _, err := v.Open(t.Context(), sealed, endpoint); err != nil {
			t.Fatalf("Open for the endpoint = %v; want nil", err)
		}
		shut(t, v, sealed, other)
	})

	t.Run("a changed or shortened secret does not open", func(t *testing.T) {
		t.Parallel()

		v := newVault(t)
		sealed := seal(t, v, endpoint)
		for _, i := range []int{0, len(sealed) / 2, len(sealed) - 1} {
			changed := slices.Clone(sealed)
			changed[i] ^= 1
			shut(t, v, changed, endpoint)
		}
		shut(t, v, sealed[:len(sealed)-1], endpoint)
		shut(t, v, nil, endpoint)
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

	sealed, err := v.Seal(t.Context(), clearSecret, endpoint)
	if err != nil {
		t.Fatalf("Seal(%q, %s) = %v; want nil", clearSecret, endpoint, err)
	}
	return sealed
}

func shut(t *testing.T, v SecretVault, sealed []byte, endpoint hook.EndpointID) {
	t.Helper()

	got, err := v.Open(t.Context(), sealed, endpoint)
	if got != "" || hook.CodeOf(err) != hook.CodeInternal || err == nil {
		t.Errorf("Open(%d bytes, %s) = %q, %v; want an internal error", len(sealed), endpoint, got, err)
	}
}
