// Package kms seals signing secrets under an AWS KMS key. No error and no log
// message contains a secret. The contracts of [Sealer] and [Opener] are documented
// at the port Vault of the packages admin/endpoint and delivery/attempt.
//
// # Encryption
//
// Each tenant has one data key, an X25519 key pair. KMS encrypts the private half,
// with the tenant in the encryption context. A secret is encrypted for the public
// half by HPKE (RFC 9180: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-256-GCM).
// Tenant and endpoint are the info of HPKE, so a sealed secret copied to another
// endpoint or tenant does not open.
//
// A sealed secret contains the encrypted private half, and opens without the
// stored data key:
//
//	data key       public half (32 bytes), encrypted private half
//	sealed secret  length of the encrypted private half (2 bytes, big-endian),
//	               encrypted private half, ciphertext of HPKE
//
// A Sealer needs the permission to encrypt and an Opener the permission to decrypt.
package kms

import (
	"crypto/ecdh"
	"crypto/hpke"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"

	"surehook.example/surehook/internal/hook"
)

const (
	callTimeout = 5 * time.Second // per request, retries of the SDK included

	service       = "the key" // in errors
	contextTenant = "tenant"  // in the encryption context
	publicBytes   = 32        // of the public half
	lengthBytes   = 2         // before the encrypted private half
	maxWrapped    = 6144      // bytes of a ciphertext of KMS, a bound of the API of Decrypt
)

var (
	errNoAnswer = errors.New("KMS did not answer in time")
	errForm     = errors.New("the bytes do not have the form of a sealed secret")
)

// key is the KMS key.
type key struct {
	client *awskms.Client
	arn    string
}

func newKey(cfg aws.Config, keyARN string) (key, error) {
	if _, err := arn.Parse(keyARN); err != nil {
		return key{}, fmt.Errorf("parse key ARN %q: %w", keyARN, err)
	}
	return key{client: awskms.NewFromConfig(cfg), arn: keyARN}, nil
}

// encryptionContext names the tenant in the records of CloudTrail.
func encryptionContext(tenant hook.TenantID) map[string]string {
	return map[string]string{contextTenant: string(tenant)}
}

func kem() hpke.KEM { return hpke.DHKEM(ecdh.X25519()) }

// seal encrypts the secret for the public half.
func seal(public []byte, secret, info []byte) ([]byte, error) {
	k, err := kem().NewPublicKey(public)
	if err != nil {
		return nil, fmt.Errorf("read public half: %w", err)
	}
	sealed, err := hpke.Seal(k, hpke.HKDFSHA256(), hpke.AES256GCM(), info, secret)
	if err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	return sealed, nil
}

// info binds a ciphertext to tenant and endpoint. A tenant contains no zero byte.
func info(tenant hook.TenantID, endpoint hook.EndpointID) []byte {
	return []byte(string(tenant) + "\x00" + string(endpoint))
}

// join returns the sealed secret. wrapped has at most maxWrapped bytes.
func join(wrapped, ciphertext []byte) []byte {
	sealed := binary.BigEndian.AppendUint16(nil, uint16(len(wrapped))) //nolint:gosec // KMS bounds the length
	return append(append(sealed, wrapped...), ciphertext...)
}

// split is the reverse of join.
func split(sealed []byte) (wrapped, ciphertext []byte, err error) {
	if len(sealed) < lengthBytes {
		return nil, nil, errForm
	}
	n, rest := int(binary.BigEndian.Uint16(sealed)), sealed[lengthBytes:]
	if n == 0 || n > min(maxWrapped, len(rest)) {
		return nil, nil, errForm
	}
	return rest[:n], rest[n:], nil
}

func internal(err error, message string) error {
	return &hook.Error{Code: hook.CodeInternal, Message: message, Err: err}
}
