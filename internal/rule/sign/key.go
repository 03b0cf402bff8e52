package sign

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"surehook/internal/hook"
)

const (
	secretPrefix  = "whsec_"
	privatePrefix = "whsk_"
	publicPrefix  = "whpk_"

	// Bytes of a v1 secret, decoded.
	minSecretLen = 24
	maxSecretLen = 64
	newSecretLen = 32 // as long as the hash it keys
)

// Key is a signing key, ready for use by any number of goroutines. The zero
// Key signs nothing. However it is printed or logged, a Key does not show its
// secret: that lives in a function's closure, where no formatter looks.
type Key struct {
	scheme hook.Scheme
	public string
	sign   func(content []byte) []byte
}

// Parse reads the text form of a signing key, whsec_... or whsk_...; the doc of
// this package says what follows the prefix. The error is a *hook.Error of
// CodeInvalid for the field "secret" and does not repeat the text.
func Parse(text string) (Key, error) {
	if encoded, ok := strings.CutPrefix(text, secretPrefix); ok {
		secret, ok := decode(encoded)
		if !ok || len(secret) < minSecretLen || len(secret) > maxSecretLen {
			return Key{}, invalid("must be %s and the base64 of %d to %d bytes", secretPrefix, minSecretLen, maxSecretLen)
		}
		return Key{scheme: hook.SchemeV1, sign: func(content []byte) []byte { return mac(secret, content) }}, nil
	}
	if encoded, ok := strings.CutPrefix(text, privatePrefix); ok {
		private, ok := privateKey(encoded)
		if !ok {
			return Key{}, invalid("must be %s and the base64 of an ed25519 private key, 32 bytes of seed or 64 of seed and public key", privatePrefix)
		}
		return Key{
			scheme: hook.SchemeV1a,
			public: publicPrefix + encode(private[ed25519.SeedSize:]),
			sign:   func(content []byte) []byte { return ed25519.Sign(private, content) },
		}, nil
	}
	return Key{}, invalid("must begin with %s or %s", secretPrefix, privatePrefix)
}

// NewSecret returns the text form of a fresh v1 key.
func NewSecret() string { return secretPrefix + encode(random(newSecretLen)) }

// NewKeyPair returns the text forms of a fresh v1a key, whsk_... with seed and
// public key, and of the public key its receivers verify with, whpk_...
func NewKeyPair() (private, public string) {
	key := ed25519.NewKeyFromSeed(random(ed25519.SeedSize))
	return privatePrefix + encode(key), publicPrefix + encode(key[ed25519.SeedSize:])
}

// Scheme returns the scheme the key signs with; 0 for the zero Key.
func (k Key) Scheme() hook.Scheme { return k.scheme }

// Public returns the text form of a v1a key's public half, whpk_..., and
// nothing for a v1 key, which has none.
func (k Key) Public() string { return k.public }

// String returns the key's scheme and not its secret.
func (k Key) String() string { return "[redacted " + k.scheme.String() + " key]" }

// GoString returns String.
func (k Key) GoString() string { return k.String() }

// Format writes String for every verb.
func (k Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, k.String()) }

// LogValue returns String.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

func mac(secret, content []byte) []byte {
	h := hmac.New(sha256.New, secret)
	h.Write(content)
	return h.Sum(nil)
}

// privateKey decodes a seed, or a seed and its public key. A public key that is
// another seed's is refused: signing under it would give the private key away.
func privateKey(encoded string) (key ed25519.PrivateKey, ok bool) {
	raw, ok := decode(encoded)
	if !ok || len(raw) != ed25519.SeedSize && len(raw) != ed25519.PrivateKeySize {
		return nil, false
	}
	key = ed25519.NewKeyFromSeed(raw[:ed25519.SeedSize])
	return key, len(raw) == ed25519.SeedSize || key.Equal(ed25519.PrivateKey(raw))
}

func encode(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// decode accepts only the text that encode writes. The decoder alone would let
// line breaks and stray bits pass, which receivers' libraries may not.
func decode(text string) (b []byte, ok bool) {
	b, err := base64.StdEncoding.DecodeString(text)
	return b, err == nil && encode(b) == text
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: crypto/rand crashes the program instead
	return b
}

func invalid(format string, args ...any) *hook.Error {
	return hook.Invalid(hook.FieldError{Field: "secret", Message: fmt.Sprintf(format, args...)})
}
