package kms

import (
	"context"
	"crypto/hpke"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"

	"surehook.example/surehook/internal/aws/awserr"
	"surehook.example/surehook/internal/hook"
)

// DataKeys keeps the key pairs of tenants and of buckets. Reads are strongly consistent.
type DataKeys interface {
	// DataKey returns the tenant's key pair; CodeNotFound before the first put.
	DataKey(ctx context.Context, tenant hook.TenantID) ([]byte, error)
	// PutDataKey stores the tenant's key pair; CodeConflict if the tenant has one.
	PutDataKey(ctx context.Context, tenant hook.TenantID, key []byte) error
	// BucketKey returns the bucket's key pair; CodeNotFound before the first put.
	BucketKey(ctx context.Context, bucket int) ([]byte, error)
	// PutBucketKey stores the bucket's key pair; CodeConflict if the bucket has one.
	PutBucketKey(ctx context.Context, bucket int, key []byte) error
}

// Sealer seals secrets. Sealer is safe for concurrent use.
type Sealer struct {
	key  key
	keys DataKeys
}

// NewSealer returns the sealer under the KMS key.
func NewSealer(cfg aws.Config, keyARN string, keys DataKeys) (*Sealer, error) {
	k, err := newKey(cfg, keyARN)
	if err != nil {
		return nil, err
	}
	return &Sealer{key: k, keys: keys}, nil
}

// Seal encrypts the secret. The first secret of a bucket costs one KMS request. After
// CodeUnavailable, the caller may retry.
func (s *Sealer) Seal(ctx context.Context, secret string, tenant hook.TenantID, endpoint hook.EndpointID) ([]byte, error) {
	pair, err := s.tenantPair(ctx, tenant)
	if err != nil {
		return nil, fmt.Errorf("seal secret of %s: %w", endpoint, err)
	}
	sealed, err := pair.seal([]byte(secret), info(tenant, endpoint))
	if err != nil {
		return nil, internal(err, fmt.Sprintf("seal secret of %s", endpoint))
	}
	return sealed, nil
}

func (s *Sealer) tenantPair(ctx context.Context, tenant hook.TenantID) (storedPair, error) {
	return s.first(
		func() ([]byte, error) { return s.keys.DataKey(ctx, tenant) },
		func(pair []byte) error { return s.keys.PutDataKey(ctx, tenant, pair) },
		func(private []byte) ([]byte, error) {
			bucket, err := s.bucketPair(ctx, bucketOf(tenant))
			if err != nil {
				return nil, err
			}
			return bucket.seal(private, info(tenant, ""))
		})
}

func (s *Sealer) bucketPair(ctx context.Context, bucket int) (storedPair, error) {
	return s.first(
		func() ([]byte, error) { return s.keys.BucketKey(ctx, bucket) },
		func(pair []byte) error { return s.keys.PutBucketKey(ctx, bucket, pair) },
		func(private []byte) ([]byte, error) { return s.encrypt(ctx, private, bucket) })
}

// first returns the stored pair. Without one it makes a pair, and forgets the private half in plain
// text: of two concurrent first calls one stores its pair, and both use the stored one.
func (s *Sealer) first(stored func() ([]byte, error), put func([]byte) error, sealPrivate func([]byte) ([]byte, error)) (storedPair, error) {
	found, err := stored()
	if hook.CodeOf(err) != hook.CodeNotFound {
		return found, err
	}
	made, err := kem().GenerateKey()
	if err != nil {
		return nil, internal(err, "generate key pair")
	}
	private, err := made.Bytes()
	if err != nil {
		return nil, internal(err, "encode private half")
	}
	sealed, err := sealPrivate(private)
	if err != nil {
		return nil, fmt.Errorf("encrypt private half: %w", err)
	}
	pair := append(made.PublicKey().Bytes(), sealed...)
	err = put(pair)
	if hook.CodeOf(err) == hook.CodeConflict {
		return stored()
	}
	return pair, err
}

// encrypt asks KMS to encrypt the private half of a bucket.
func (s *Sealer) encrypt(ctx context.Context, private []byte, bucket int) ([]byte, error) {
	out, err := awserr.Call(ctx, callTimeout, service, s.key.client.Encrypt, &awskms.EncryptInput{
		KeyId: &s.key.arn, Plaintext: private, EncryptionContext: encryptionContext(bucket),
	})
	if err != nil {
		return nil, err
	}
	return out.CiphertextBlob, nil
}

// storedPair is a key pair as it is stored: the public half, and the sealed private half.
type storedPair []byte

// seal encrypts for the public half, and puts the sealed private half beside.
func (p storedPair) seal(plain, info []byte) ([]byte, error) {
	if len(p) <= publicBytes {
		return nil, errForm
	}
	public, err := kem().NewPublicKey(p[:publicBytes])
	if err != nil {
		return nil, fmt.Errorf("read public half: %w", err)
	}
	ciphertext, err := hpke.Seal(public, hpke.HKDFSHA256(), hpke.AES256GCM(), info, plain)
	if err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	return join(p[publicBytes:], ciphertext), nil
}
