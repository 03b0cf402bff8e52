package memory

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"fmt"

	"surehook/internal/admin/endpoint"
	"surehook/internal/delivery/deliver"
	"surehook/internal/hook"
)

var (
	_ endpoint.Vault = Vault{}
	_ deliver.Vault  = Vault{}
)

// Vault seals with a key that everybody can read here, so it hides nothing;
// but what it sealed opens for its endpoint only, and not if it was changed.
type Vault struct{}

// Seal encrypts the secret and binds it to the endpoint.
func (Vault) Seal(_ context.Context, secret string, endpoint hook.EndpointID) ([]byte, error) {
	aead, err := vaultCipher()
	if err != nil {
		return nil, fmt.Errorf("seal secret of %s: %w", endpoint, err)
	}
	return aead.Seal(nil, nil, []byte(secret), []byte(endpoint)), nil //nolint:gosec // this AEAD makes the nonce itself
}

// Open returns the secret; CodeInternal if it was not sealed for the endpoint or was changed.
func (Vault) Open(_ context.Context, sealed []byte, endpoint hook.EndpointID) (string, error) {
	aead, err := vaultCipher()
	if err != nil {
		return "", fmt.Errorf("open secret of %s: %w", endpoint, err)
	}
	secret, err := aead.Open(nil, nil, sealed, []byte(endpoint))
	if err != nil {
		return "", &hook.Error{Code: hook.CodeInternal, Message: fmt.Sprintf("open secret of %s", endpoint), Err: err}
	}
	return string(secret), nil
}

func vaultCipher() (cipher.AEAD, error) {
	block, err := aes.NewCipher([]byte("a key that is no secret, 32 byte"))
	if err != nil {
		return nil, fmt.Errorf("make cipher: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("make AEAD: %w", err)
	}
	return aead, nil
}
