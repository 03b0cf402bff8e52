package memory

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"fmt"
	"sync"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/delivery/attempt"
	"surehook.example/surehook/internal/hook"
)

var (
	_ endpoint.Vault = Vault{}
	_ attempt.Vault  = Vault{}
)

// Vault encrypts with a public key constant, so sealed secrets are not secret. As
// with KMS, a sealed secret opens only unchanged and only for its tenant and endpoint.
type Vault struct{}

// Seal makes no request.
func (Vault) Seal(_ context.Context, secret string, tenant hook.TenantID, endpoint hook.EndpointID) ([]byte, error) {
	aead, err := vaultCipher()
	if err != nil {
		return nil, fmt.Errorf("seal secret of %s: %w", endpoint, err)
	}
	return aead.Seal(nil, nil, []byte(secret), owner(tenant, endpoint)), nil //nolint:gosec // the AEAD generates the nonce
}

// Open returns CodeInternal for a changed secret, and for a secret of another
// endpoint or tenant.
func (Vault) Open(_ context.Context, sealed []byte, tenant hook.TenantID, endpoint hook.EndpointID) (string, error) {
	aead, err := vaultCipher()
	if err != nil {
		return "", fmt.Errorf("open secret of %s: %w", endpoint, err)
	}
	secret, err := aead.Open(nil, nil, sealed, owner(tenant, endpoint))
	if err != nil {
		return "", &hook.Error{Code: hook.CodeInternal, Message: fmt.Sprintf("open secret of %s", endpoint), Err: err}
	}
	return string(secret), nil
}

// owner is the associated data. A tenant contains no zero byte.
func owner(tenant hook.TenantID, endpoint hook.EndpointID) []byte {
	return []byte(string(tenant) + "\x00" + string(endpoint))
}

// vaultCipher returns the cipher, made once: the expansion of a key costs more than Open.
var vaultCipher = sync.OnceValues(func() (cipher.AEAD, error) { //nolint:gochecknoglobals // a constant
	block, err := aes.NewCipher([]byte("a key that is no secret, 32 byte"))
	if err != nil {
		return nil, fmt.Errorf("make cipher: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("make AEAD: %w", err)
	}
	return aead, nil
})
