package hook

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"strings"
	"time"
)

// PortalLink is the record of a link to a tenant's portal. The link carries a code that opens
// the portal once. The record contains only hashes of the code and of the key.
type PortalLink struct {
	ID        KeyID     `stored:"id"` // of the link, and of the key
	Tenant    TenantID  `stored:"tenant"`
	Scopes    []Scope   `stored:"scopes"`
	CreatedAt time.Time `stored:"created_at"`
	ExpiresAt time.Time `stored:"valid_until"` // of the key; the record is removed later
	CodeHash  string    `stored:"code_hash"`   // HashKey of the code
	OpenUntil time.Time `stored:"open_until"`  // when the code expires
	KeyHash   string    `stored:"hash"`        // HashKey of the key; empty until the code is used
}

// Opened reports whether the code was used.
func (l PortalLink) Opened() bool { return l.KeyHash != "" }

// IsCode reports whether the code belongs to the link.
func (l PortalLink) IsCode(code string) bool {
	return subtle.ConstantTimeCompare([]byte(HashKey(code)), []byte(l.CodeHash)) == 1
}

// APIKey returns the key of an opened link.
func (l PortalLink) APIKey() APIKey {
	return APIKey{
		ID: l.ID, Name: PortalKeyName, Tenant: l.Tenant, Scopes: l.Scopes, Hash: l.KeyHash, CreatedAt: l.CreatedAt,
		Restriction: Restriction{ExpiresAt: l.ExpiresAt}, OfLink: true,
	}
}

// PortalKeyName is the name of the keys of portal links in audit records.
const PortalKeyName = "portal link"

// linkCodePrefix is the prefix of every code of a portal link.
const linkCodePrefix = "shl_"

// NewKeyText returns an API key with 256 random bits.
func NewKeyText() string { return APIKeyPrefix + randomText() }

// NewLinkCode returns a code for the link: the id, which is not secret, and 256 random bits.
func NewLinkCode(id KeyID) string {
	return linkCodePrefix + strings.TrimPrefix(string(id), keyPrefix) + randomText()
}

// ParseLinkCode returns the link that the code names; ok is false for a text without the form of a code.
func ParseLinkCode(code string) (id KeyID, ok bool) {
	rest, ok := strings.CutPrefix(code, linkCodePrefix)
	if !ok || len(rest) != suffixLen+minKeyChars || !isSuffix(rest[:suffixLen]) || !isOf(rest[suffixLen:], keyChars, minKeyChars) {
		return "", false
	}
	return KeyID(keyPrefix + rest[:suffixLen]), true
}

// randomText returns 256 random bits as 43 characters of base64url.
func randomText() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // returns no error: crypto/rand ends the program instead
	return base64.RawURLEncoding.EncodeToString(b[:])
}
