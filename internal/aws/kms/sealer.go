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

// DataKeys keeps the data key of each tenant. Reads are strongly consistent.
type DataKeys interface {
	// DataKey returns the tenant's data key; CodeNotFound before the first put.
	DataKey(ctx context.Context, tenant hook.TenantID) ([]byte, error)
	// PutDataKey stores the tenant's data key; CodeConflict if the tenant has one.
	PutDataKey(ctx context.Context, tenant hook.TenantID, key []byte) error
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

// Seal encrypts the secret. The first secret of a tenant costs one KMS request.
// After CodeUnavailable, the caller may retry.
func (s *Sealer) Seal(ctx context.Context, secret string, tenant hook.TenantID, endpoint hook.EndpointID) ([]byte, error) {
	dataKey, err := s.dataKey(ctx, tenant)
	if err != nil {
		return nil, fmt.Errorf("seal secret of %s: %w", endpoint, err)
	}
	if len(dataKey) <= publicBytes {
		return nil, internal(nil, fmt.Sprintf("seal secret of %s: the data key of tenant %s is too short", endpoint, tenant))
	}
	ciphertext, err := seal(dataKey[:publicBytes], []byte(secret), info(tenant, endpoint))
	if err != nil {
		return nil, internal(err, fmt.Sprintf("seal secret of %s", endpoint))
	}
	return join(dataKey[publicBytes:], ciphertext), nil
}

// dataKey returns the tenant's data key. The first call for a tenant creates the
// data key. Of two concurrent first calls, one stores its key and both use the
// stored key.
func (s *Sealer) dataKey(ctx context.Context, tenant hook.TenantID) ([]byte, error) {
	stored, err := s.keys.DataKey(ctx, tenant)
	if hook.CodeOf(err) != hook.CodeNotFound {
		return stored, err //nolint:wrapcheck // the store names the tenant
	}
	created, err := s.createKey(ctx, tenant)
	if err != nil {
		return nil, err
	}
	err = s.keys.PutDataKey(ctx, tenant, created)
	if hook.CodeOf(err) == hook.CodeConflict {
		return s.keys.DataKey(ctx, tenant) //nolint:wrapcheck // the store names the tenant
	}
	return created, err //nolint:wrapcheck // the store names the tenant
}

// createKey returns a new data key. It does not keep the private half in plain text.
func (s *Sealer) createKey(ctx context.Context, tenant hook.TenantID) ([]byte, error) {
	pair, err := kem().GenerateKey()
	if err != nil {
		return nil, internal(err, fmt.Sprintf("generate data key of tenant %s", tenant))
	}
	wrapped, err := s.wrap(ctx, tenant, pair)
	if err != nil {
		return nil, fmt.Errorf("encrypt data key of tenant %s: %w", tenant, err)
	}
	return append(pair.PublicKey().Bytes(), wrapped...), nil
}

func (s *Sealer) wrap(ctx context.Context, tenant hook.TenantID, pair hpke.PrivateKey) ([]byte, error) {
	private, err := pair.Bytes()
	if err != nil {
		return nil, internal(err, "encode private half")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, callTimeout, errNoAnswer)
	defer cancel()

	out, err := s.key.client.Encrypt(ctx, &awskms.EncryptInput{
		KeyId: &s.key.arn, Plaintext: private, EncryptionContext: encryptionContext(tenant),
	})
	if err != nil {
		return nil, awserr.Of(ctx, err, service)
	}
	return out.CiphertextBlob, nil
}
