// Package kms seals signing secrets under an AWS KMS key. No error and no log
// message contains a secret. The contracts of [Sealer] and [Opener] are documented
// at the port Vault of the packages admin/endpoint and delivery/attempt.
//
// # Encryption
//
// Three keys stand above a secret. Tenants share 512 buckets, each with a key pair of X25519 whose
// private half KMS encrypts, with the bucket in the encryption context. Each tenant has a key pair
// of its own, whose private half is encrypted for the public half of its bucket; a secret is
// encrypted for the public half of its tenant. So the requests to KMS grow neither with endpoints
// nor, above 512, with tenants, and who seals cannot open.
//
// Both steps are HPKE (RFC 9180: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-256-GCM). Its info is
// the tenant, and for a secret the endpoint, too: a copy at another tenant or endpoint does not open.
//
// What is sealed contains the sealed private half that opens it, so it opens without the table:
//
//	stored key   public half (32 bytes), sealed private half
//	sealed       length of the sealed private half (2 bytes, big-endian), sealed private half,
//	             ciphertext of HPKE
//
// The private half of a bucket is a ciphertext of KMS, and that of a tenant is sealed as above.
//
// A Sealer needs the permission to encrypt and an Opener the permission to decrypt.
package kms

import (
	"crypto/ecdh"
	"crypto/hpke"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"

	"surehook.example/surehook/internal/hook"
)

const (
	callTimeout = 5 * time.Second // per request, retries of the SDK included

	service       = "the key" // in errors
	contextBucket = "bucket"  // in the encryption context
	buckets       = 512       // bounds the requests to KMS of a sandbox in an hour
	publicBytes   = 32        // of the public half
	lengthBytes   = 2         // before the sealed private half
)

var errForm = errors.New("the bytes do not have the form of a sealed secret")

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

// bucketOf returns the bucket of a tenant, for ever the same.
func bucketOf(tenant hook.TenantID) int {
	sum := sha256.Sum256([]byte(tenant))
	return int(binary.BigEndian.Uint16(sum[:])) % buckets
}

// encryptionContext names the bucket in the records of CloudTrail.
func encryptionContext(bucket int) map[string]string {
	return map[string]string{contextBucket: strconv.Itoa(bucket)}
}

func kem() hpke.KEM { return hpke.DHKEM(ecdh.X25519()) }

// info binds a ciphertext to a tenant and an endpoint, or to a tenant alone. A tenant contains no
// zero byte.
func info(tenant hook.TenantID, endpoint hook.EndpointID) []byte {
	return []byte(string(tenant) + "\x00" + string(endpoint))
}

// join returns what is sealed. private has at most 64 KiB.
func join(private, ciphertext []byte) []byte {
	sealed := binary.BigEndian.AppendUint16(nil, uint16(len(private))) //nolint:gosec // KMS bounds the length
	return append(append(sealed, private...), ciphertext...)
}

// split is the reverse of join.
func split(sealed []byte) (private, ciphertext []byte, err error) {
	if len(sealed) < lengthBytes {
		return nil, nil, errForm
	}
	n, rest := int(binary.BigEndian.Uint16(sealed)), sealed[lengthBytes:]
	if n == 0 || n > len(rest) {
		return nil, nil, errForm
	}
	return rest[:n], rest[n:], nil
}

// unseal decrypts with the private half.
func unseal(private hpke.PrivateKey, ciphertext, info []byte) ([]byte, error) {
	return hpke.Open(private, hpke.HKDFSHA256(), hpke.AES256GCM(), info, ciphertext)
}

func internal(err error, message string) error {
	return &hook.Error{Code: hook.CodeInternal, Message: message, Err: err}
}
