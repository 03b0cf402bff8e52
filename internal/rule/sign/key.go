package sign

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"regexp"
	"slices"
	"strings"

	"surehook.example/surehook/internal/hook"
)

const (
	secretPrefix  = "whsec_"
	textPrefix    = "text:"
	privatePrefix = "whsk_"
	publicPrefix  = "whpk_"

	// Bounds of a decoded v1 secret, in bytes.
	minSecretLen = 24
	maxSecretLen = 64
	newSecretLen = 32 // the output length of SHA-256

	// Bounds of a text secret, which comes from another system, in characters.
	minTextLen = 16
	maxTextLen = 128
)

// Key is a signing key, safe for concurrent use. The zero Key signs nothing. A
// printed or logged Key never shows the secret: the secret is in the closure of a
// function, out of reach for formatters.
type Key struct {
	scheme hook.Scheme
	public string
	sign   func(front, body []byte) []byte // of front followed by body
	// mac is the HMAC of the parts under the text of the secret, or under its bytes; nil
	// for other keys than v1.
	mac func(newHash func() hash.Hash, text bool, parts ...[]byte) []byte
}

// Parse parses the text form of a signing key, whsec_..., whsk_... or text:... (see the
// package comment). The error is a *hook.Error with CodeInvalid for the field
// "secret" and does not repeat the text.
func Parse(text string) (Key, error) {
	if encoded, ok := strings.CutPrefix(text, secretPrefix); ok {
		secret, ok := decode(encoded)
		if !ok || len(secret) < minSecretLen || len(secret) > maxSecretLen {
			return Key{}, invalid("must be %s and the base64 of %d to %d bytes", secretPrefix, minSecretLen, maxSecretLen)
		}
		return shared(secret, []byte(text)), nil
	}
	if secret, ok := strings.CutPrefix(text, textPrefix); ok {
		if !textSecret.MatchString(secret) {
			return Key{}, invalid("must be %s and %d to %d visible ASCII characters", textPrefix, minTextLen, maxTextLen)
		}
		return shared([]byte(secret), []byte(secret)), nil
	}
	if encoded, ok := strings.CutPrefix(text, privatePrefix); ok {
		private, ok := privateKey(encoded)
		if !ok {
			return Key{}, invalid("must be %s and the base64 of an ed25519 private key, 32 bytes of seed or 64 of seed and public key", privatePrefix)
		}
		return Key{
			scheme: hook.SchemeV1a,
			public: publicPrefix + encode(private[ed25519.SeedSize:]),
			sign:   func(front, body []byte) []byte { return ed25519.Sign(private, slices.Concat(front, body)) },
		}, nil
	}
	return Key{}, invalid("must begin with %s, %s or %s", secretPrefix, privatePrefix, textPrefix)
}

// NewSecret returns the text form of a fresh v1 key.
func NewSecret() string { return secretPrefix + encode(random(newSecretLen)) }

// NewKeyPair returns the text forms of a fresh v1a key pair: whsk_... with seed and
// public key, and whpk_... for receivers.
func NewKeyPair() (private, public string) {
	key := ed25519.NewKeyFromSeed(random(ed25519.SeedSize))
	return privatePrefix + encode(key), publicPrefix + encode(key[ed25519.SeedSize:])
}

// Scheme returns the signature scheme of the key; 0 for the zero Key.
func (k Key) Scheme() hook.Scheme { return k.scheme }

// Public returns the text form of the public key, whpk_..., for a v1a key, and the
// empty string for a v1 key.
func (k Key) Public() string { return k.public }

// String returns the scheme of the key without the secret.
func (k Key) String() string { return "[redacted " + k.scheme.String() + " key]" }

// GoString returns String.
func (k Key) GoString() string { return k.String() }

// Format writes String for every verb.
func (k Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, k.String()) }

// LogValue returns String.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

var textSecret = regexp.MustCompile(`^[\x21-\x7e]{16,128}$`)

// shared returns the v1 key of a secret with the bytes and the text.
func shared(secret, text []byte) Key {
	mac := func(newHash func() hash.Hash, asText bool, parts ...[]byte) []byte {
		key := secret
		if asText {
			key = text
		}
		h := hmac.New(newHash, key)
		for _, part := range parts {
			h.Write(part)
		}
		return h.Sum(nil)
	}
	return Key{
		scheme: hook.SchemeV1, mac: mac,
		sign: func(front, body []byte) []byte { return mac(sha256.New, false, front, body) },
	}
}

// privateKey decodes a seed, or a seed and its public key. It rejects a public key that does not
// belong to the seed, because signatures made with a foreign public key reveal the private key.
func privateKey(encoded string) (key ed25519.PrivateKey, ok bool) {
	raw, ok := decode(encoded)
	if !ok || len(raw) != ed25519.SeedSize && len(raw) != ed25519.PrivateKeySize {
		return nil, false
	}
	key = ed25519.NewKeyFromSeed(raw[:ed25519.SeedSize])
	return key, len(raw) == ed25519.SeedSize || key.Equal(ed25519.PrivateKey(raw))
}

func encode(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// decode accepts only what encode returns. The standard decoder also accepts line breaks and
// stray bits, which some receivers' libraries do not.
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
