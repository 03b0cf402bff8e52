// Package kms encrypts signing secrets under an AWS KMS key.
//
// The package uses envelope encryption (Tink over AWS KMS) and binds each secret
// to an endpoint. No error and no log message contains a secret. The contract of
// [Vault] is documented at the ports of the packages deliver and admin/endpoint.
//
// # Encryption
//
// Each secret is encrypted with AES-256-GCM under a data key of its own. KMS
// encrypts the data key. The endpoint id is the associated data, so a sealed
// secret copied to another endpoint does not open.
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
	callTimeout = 5 * time.Second // per request, retries of the SDK included
	maxOpened   = 4096            // cached plaintext secrets; the least recently used leave first

	service = "the key" // in errors
)

var errNoAnswer = errors.New("KMS did not answer in time")

// Vault seals and opens secrets. Vault is safe for concurrent use. Errors of KMS
// and Tink contain no plaintext.
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

// Seal encrypts the secret with one KMS request. After CodeUnavailable, the caller
// may retry.
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

// Open decrypts the secret with one KMS request, or without a request for a cached
// secret. A secret of another endpoint and a changed secret are CodeInternal. After
// CodeUnavailable, the caller may retry.
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

// envelope makes no request.
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

// cacheKey returns the SHA-256 of endpoint, a zero byte and sealed.
func cacheKey(sealed []byte, endpoint hook.EndpointID) [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte(endpoint))
	h.Write([]byte{0})
	h.Write(sealed)
	return [sha256.Size]byte(h.Sum(nil))
}
