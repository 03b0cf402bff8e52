// Package kms encrypts signing secrets under a KMS key.
//
// It knows envelope encryption (Tink over AWS KMS) and which endpoint a secret
// is bound to. It knows nothing of what a secret is for, and never logs or
// wraps one.
package kms

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	lru "github.com/hashicorp/golang-lru/v2"
	tinkkms "github.com/tink-crypto/tink-go-awskms/v3/integration/awskms"
	"github.com/tink-crypto/tink-go/v2/aead"

	"surehook/internal/aws/awserr"
	"surehook/internal/hook"
)

const (
	callTimeout = 5 * time.Second // of one request, the SDK's own retries included
	maxOpened   = 4096            // secrets kept in clear in memory, the least used leave first

	service = "the key" // in errors
)

var errNoAnswer = errors.New("KMS did not answer in time")

// Vault seals and opens secrets. It is safe for concurrent use. Neither KMS nor
// Tink puts plaintext into its errors.
//
// Each secret is encrypted with AES-256-GCM under a data key of its own, which
// KMS encrypts. The endpoint's id is the associated data, so a sealed secret
// that was moved to another endpoint does not open.
type Vault struct {
	client *awskms.Client
	keyARN string
	opened *lru.Cache[[sha256.Size]byte, string]
}

// New returns the vault of the KMS key.
func New(cfg aws.Config, keyARN string) (*Vault, error) {
	if _, err := arn.Parse(keyARN); err != nil {
		return nil, fmt.Errorf("parse key ARN %q: %w", keyARN, err)
	}
	opened, err := lru.New[[sha256.Size]byte, string](maxOpened)
	if err != nil {
		return nil, fmt.Errorf("make cache of %d secrets: %w", maxOpened, err)
	}
	return &Vault{client: awskms.NewFromConfig(cfg), keyARN: keyARN, opened: opened}, nil
}

// Seal encrypts the text form of a secret and binds it to the endpoint.
func (v *Vault) Seal(ctx context.Context, secret string, endpoint hook.EndpointID) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, callTimeout, errNoAnswer)
	defer cancel()

	envelope, err := v.envelope(ctx)
	if err != nil {
		return nil, fmt.Errorf("seal secret of %s: %w", endpoint, err)
	}
	sealed, err := envelope.EncryptWithContext(ctx, []byte(secret), []byte(endpoint))
	if err != nil {
		return nil, fmt.Errorf("seal secret of %s: %w", endpoint, awserr.Of(ctx, err, service))
	}
	return sealed, nil
}

// Open returns the text form of a secret that was sealed for the endpoint. It
// asks KMS once per secret, as long as the secret stays among those that were
// opened last. CodeInternal if the secret was not sealed for the endpoint or
// was changed, CodeUnavailable if KMS does not answer now.
func (v *Vault) Open(ctx context.Context, sealed []byte, endpoint hook.EndpointID) (string, error) {
	key := cacheKey(sealed, endpoint)
	if secret, ok := v.opened.Get(key); ok {
		return secret, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, callTimeout, errNoAnswer)
	defer cancel()

	envelope, err := v.envelope(ctx)
	if err != nil {
		return "", fmt.Errorf("open secret of %s: %w", endpoint, err)
	}
	secret, err := envelope.DecryptWithContext(ctx, sealed, []byte(endpoint))
	if err != nil {
		return "", fmt.Errorf("open secret of %s: %w", endpoint, awserr.Of(ctx, err, service))
	}
	v.opened.Add(key, string(secret))
	return string(secret), nil
}

// envelope is cheap: it makes no request.
func (v *Vault) envelope(ctx context.Context) (*aead.KMSEnvelopeAEADWithContext, error) {
	kek, err := tinkkms.NewAEADWithContext(ctx, v.keyARN, tinkkms.WithKMS(v.client))
	if err != nil {
		return nil, fmt.Errorf("use key %s: %w", v.keyARN, err)
	}
	envelope, err := aead.NewKMSEnvelopeAEADWithContext(aead.AES256GCMKeyTemplate(), kek)
	if err != nil {
		return nil, fmt.Errorf("make envelope under %s: %w", v.keyARN, err)
	}
	return envelope, nil
}

// cacheKey is SHA-256 of endpoint, 0, sealed.
func cacheKey(sealed []byte, endpoint hook.EndpointID) [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte(endpoint))
	h.Write([]byte{0})
	h.Write(sealed)
	return [sha256.Size]byte(h.Sum(nil))
}
