package kms

import (
	"context"
	"crypto/hpke"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"golang.org/x/sync/singleflight"

	"surehook.example/surehook/internal/aws/awserr"
	"surehook.example/surehook/internal/cache"
	"surehook.example/surehook/internal/hook"
)

// MaxBytes bounds the opened secrets and the private halves that an Opener keeps; the least recently
// used are dropped first.
const MaxBytes = 2 * maxCached

const (
	maxCached = 1 << 20   // bytes of opened secrets, and of buckets' private halves
	pairBytes = 1 << 10   // more than a private half takes
	maxAge    = time.Hour // of what is cached: disabling the KMS key takes effect within this time
)

// Opener opens sealed secrets. It is safe for concurrent use. Errors of KMS contain no plaintext.
type Opener struct {
	key     key
	now     func() time.Time
	secrets *cache.Cache[[sha256.Size]byte, kept[string]]
	pairs   *cache.Cache[string, kept[hpke.PrivateKey]] // of buckets, by bucket and ciphertext
	calls   singleflight.Group                          // of KMS, by the same key
}

// kept is a value that is used for a limited time.
type kept[V any] struct {
	value V
	until time.Time
}

// NewOpener returns the opener under the KMS key.
func NewOpener(cfg aws.Config, keyARN string, now func() time.Time) (*Opener, error) {
	k, err := newKey(cfg, keyARN)
	if err != nil {
		return nil, err
	}
	return &Opener{
		key: k, now: now,
		secrets: cache.New[[sha256.Size]byte, kept[string]](maxCached, nil),
		pairs:   cache.New[string, kept[hpke.PrivateKey]](maxCached, nil),
	}, nil
}

// Open decrypts the secret. The first secret of a bucket in maxAge costs one KMS request. A changed
// secret, and a secret of another endpoint or tenant, are CodeInternal. After CodeUnavailable, the
// caller may retry.
func (o *Opener) Open(ctx context.Context, sealed []byte, tenant hook.TenantID, endpoint hook.EndpointID) (string, error) {
	about := info(tenant, endpoint)
	id := sha256.Sum256(slices.Concat(about, []byte{0}, sealed))
	if s, ok := o.secrets.Get(id); ok && o.now().Before(s.until) {
		return s.value, nil
	}
	private, ciphertext, err := split(sealed)
	if err != nil {
		return "", internal(err, fmt.Sprintf("open secret of %s", endpoint))
	}
	pair, err := o.tenantPair(ctx, private, tenant)
	if err != nil {
		return "", fmt.Errorf("open secret of %s: %w", endpoint, err)
	}
	secret, err := unseal(pair.value, ciphertext, about)
	if err != nil {
		return "", internal(err, fmt.Sprintf("open secret of %s", endpoint))
	}
	o.secrets.Add(id, kept[string]{string(secret), pair.until}, len(secret))
	return string(secret), nil
}

// Bytes returns how many bytes are kept, at most MaxBytes.
func (o *Opener) Bytes() int { return o.secrets.Bytes() + o.pairs.Bytes() }

// tenantPair opens the private half of the tenant with that of its bucket.
func (o *Opener) tenantPair(ctx context.Context, sealed []byte, tenant hook.TenantID) (kept[hpke.PrivateKey], error) {
	wrapped, ciphertext, err := split(sealed)
	if err != nil {
		return kept[hpke.PrivateKey]{}, internal(err, "read private half")
	}
	bucket, err := o.bucketPair(ctx, wrapped, bucketOf(tenant))
	if err != nil {
		return kept[hpke.PrivateKey]{}, err
	}
	plain, err := unseal(bucket.value, ciphertext, info(tenant, ""))
	if err != nil {
		return kept[hpke.PrivateKey]{}, internal(err, "open private half")
	}
	return pairOf(plain, bucket.until)
}

// bucketPair returns the private half of the bucket from the cache or from KMS. Concurrent calls
// share a request.
func (o *Opener) bucketPair(ctx context.Context, wrapped []byte, bucket int) (kept[hpke.PrivateKey], error) {
	id := strconv.Itoa(bucket) + "\x00" + string(wrapped)
	if k, ok := o.fromCache(id); ok {
		return k, nil
	}
	if err := ctx.Err(); err != nil {
		return kept[hpke.PrivateKey]{}, awserr.Of(ctx, err, service)
	}
	call := o.calls.DoChan(id, func() (any, error) {
		// The end of one caller's context must not fail the other callers.
		return o.decrypt(context.WithoutCancel(ctx), id, wrapped, bucket)
	})
	select {
	case <-ctx.Done():
		return kept[hpke.PrivateKey]{}, awserr.Of(ctx, ctx.Err(), service)
	case result := <-call:
		pair, _ := result.Val.(kept[hpke.PrivateKey])
		return pair, result.Err
	}
}

func (o *Opener) fromCache(id string) (kept[hpke.PrivateKey], bool) {
	k, ok := o.pairs.Get(id)
	return k, ok && o.now().Before(k.until)
}

// decrypt asks KMS for the private half and caches it, unless another request has just done so.
func (o *Opener) decrypt(ctx context.Context, id string, wrapped []byte, bucket int) (kept[hpke.PrivateKey], error) {
	if k, ok := o.fromCache(id); ok {
		return k, nil
	}
	until := o.now().Add(maxAge)
	out, err := awserr.Call(ctx, callTimeout, service, o.key.client.Decrypt, &awskms.DecryptInput{
		KeyId: &o.key.arn, CiphertextBlob: wrapped, EncryptionContext: encryptionContext(bucket),
	})
	if err != nil {
		return kept[hpke.PrivateKey]{}, fmt.Errorf("decrypt private half of bucket %d: %w", bucket, err)
	}
	pair, err := pairOf(out.Plaintext, until)
	if err == nil {
		o.pairs.Add(id, pair, pairBytes)
	}
	return pair, err
}

func pairOf(private []byte, until time.Time) (kept[hpke.PrivateKey], error) {
	k, err := kem().NewPrivateKey(private)
	if err != nil {
		return kept[hpke.PrivateKey]{}, internal(err, "read private half")
	}
	return kept[hpke.PrivateKey]{k, until}, nil
}
