package kms

import (
	"context"
	"crypto/hpke"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"golang.org/x/sync/singleflight"

	"surehook.example/surehook/internal/aws/awserr"
	"surehook.example/surehook/internal/cache"
	"surehook.example/surehook/internal/hook"
)

const (
	maxKeys   = 1 << 20   // bytes of cached private halves; the least recently used are dropped first
	keyBytes  = 2 << 10   // more than one takes
	maxKeyAge = time.Hour // of a cached private half: disabling the KMS key takes effect within this time
)

// Opener opens sealed secrets. It is safe for concurrent use. Errors of KMS contain no plaintext.
type Opener struct {
	key    key
	now    func() time.Time
	cached *cache.Cache[string, cachedKey] // by tenant and SHA-256 of the encrypted private half
	calls  singleflight.Group              // of KMS, by the same key
}

type cachedKey struct {
	private hpke.PrivateKey
	until   time.Time
}

// NewOpener returns the opener under the KMS key.
func NewOpener(cfg aws.Config, keyARN string, now func() time.Time) (*Opener, error) {
	k, err := newKey(cfg, keyARN)
	if err != nil {
		return nil, err
	}
	return &Opener{key: k, now: now, cached: cache.New[string, cachedKey](maxKeys, nil)}, nil
}

// Open decrypts the secret. The first secret of a tenant in maxKeyAge costs one KMS
// request. A changed secret, and a secret of another endpoint or tenant, are
// CodeInternal. After CodeUnavailable, the caller may retry.
func (o *Opener) Open(ctx context.Context, sealed []byte, tenant hook.TenantID, endpoint hook.EndpointID) (string, error) {
	wrapped, ciphertext, err := split(sealed)
	if err != nil {
		return "", internal(err, fmt.Sprintf("open secret of %s", endpoint))
	}
	private, err := o.privateHalf(ctx, wrapped, tenant)
	if err != nil {
		return "", fmt.Errorf("open secret of %s: %w", endpoint, err)
	}
	secret, err := hpke.Open(private, hpke.HKDFSHA256(), hpke.AES256GCM(), info(tenant, endpoint), ciphertext)
	if err != nil {
		return "", internal(err, fmt.Sprintf("open secret of %s", endpoint))
	}
	return string(secret), nil
}

// privateHalf returns the private half from the cache or from KMS. Concurrent calls share a
// request.
func (o *Opener) privateHalf(ctx context.Context, wrapped []byte, tenant hook.TenantID) (hpke.PrivateKey, error) {
	sum := sha256.Sum256(wrapped)
	id := string(tenant) + "\x00" + string(sum[:])
	if k, ok := o.fromCache(id); ok {
		return k, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, awserr.Of(ctx, err, service)
	}
	call := o.calls.DoChan(id, func() (any, error) {
		// The end of one caller's context must not fail the other callers.
		return o.unwrap(context.WithoutCancel(ctx), id, wrapped, tenant)
	})
	select {
	case <-ctx.Done():
		return nil, awserr.Of(ctx, ctx.Err(), service)
	case result := <-call:
		private, _ := result.Val.(hpke.PrivateKey)
		return private, result.Err
	}
}

func (o *Opener) fromCache(id string) (hpke.PrivateKey, bool) {
	k, ok := o.cached.Get(id)
	return k.private, ok && o.now().Before(k.until)
}

// unwrap decrypts and caches the private half, unless another request has just cached it.
func (o *Opener) unwrap(ctx context.Context, id string, wrapped []byte, tenant hook.TenantID) (hpke.PrivateKey, error) {
	if k, ok := o.fromCache(id); ok {
		return k, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, callTimeout, errNoAnswer)
	defer cancel()

	until := o.now().Add(maxKeyAge)
	out, err := o.key.client.Decrypt(ctx, &awskms.DecryptInput{
		KeyId: &o.key.arn, CiphertextBlob: wrapped, EncryptionContext: encryptionContext(tenant),
	})
	if err != nil {
		return nil, fmt.Errorf("decrypt data key of tenant %s: %w", tenant, awserr.Of(ctx, err, service))
	}
	private, err := kem().NewPrivateKey(out.Plaintext)
	if err != nil {
		return nil, internal(err, fmt.Sprintf("read data key of tenant %s", tenant))
	}
	o.cached.Add(id, cachedKey{private: private, until: until}, keyBytes)
	return private, nil
}
