package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Scope is a permission of an API key.
type Scope string

// The scopes.
const (
	ScopeEventsWrite     Scope = "events:write"
	ScopeEndpointsWrite  Scope = "endpoints:write"
	ScopeTransformations Scope = "transformations" // with endpoints:write, expressions that are no presets: their author chooses what is signed
	ScopePrivate         Scope = "private"         // with endpoints:write, endpoints with egress private
	ScopeRead            Scope = "read"
	ScopeReplay          Scope = "replay"
	ScopeAudit           Scope = "audit"
	ScopePortalWrite     Scope = "portal:write" // create and revoke portal links: keys for any tenant, valid for up to 24 hours
	ScopeTenantsRead     Scope = "tenants:read" // the list of tenants, with AllTenants
	ScopeAdmin           Scope = "admin"        // all operations, including the management of keys
)

// Scopes returns every scope.
func Scopes() []Scope {
	return []Scope{ScopeEventsWrite, ScopeEndpointsWrite, ScopeTransformations, ScopePrivate, ScopeRead, ScopeReplay, ScopeAudit, ScopePortalWrite, ScopeTenantsRead, ScopeAdmin}
}

// AllTenants as the tenant of a key gives access to all tenants.
const AllTenants TenantID = "*"

// APIKeyPrefix is the prefix of every API key.
const APIKeyPrefix = "shk_"

// APIKey is the record of an API key. It contains a hash of the key, not the key itself.
type APIKey struct {
	ID        KeyID     `stored:"id"`
	Name      string    `stored:"name"`
	Tenant    TenantID  `stored:"tenant"` // a tenant, or AllTenants
	Scopes    []Scope   `stored:"scopes"`
	Hash      string    `stored:"hash"` // HashKey of the key
	CreatedAt time.Time `stored:"created_at"`
	Restriction
	// LastUsedOn is the UTC day of the last successful use, such as "2026-11-21"; empty before
	// the first one. Days sort as text.
	LastUsedOn string `stored:"last_used_on"`
	// OfLink marks the key of a portal link: it is in no list of keys and has no LastUsedOn.
	OfLink bool `stored:"of_link"`
}

// The characters of base64url in a key after the prefix. 43 characters hold 256 bits.
const (
	keyChars    = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	minKeyChars = 43
	maxKeyChars = 64
)

// LooksLikeKey reports whether the text has the form of an API key.
func LooksLikeKey(text string) bool {
	rest, ok := strings.CutPrefix(text, APIKeyPrefix)
	return ok && len(rest) >= minKeyChars && isOf(rest, keyChars, maxKeyChars)
}

// HashKey returns the lower-case hex SHA-256 of the key. A plain hash is
// sufficient, because a key carries 256 random bits.
func HashKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// Restriction limits the use of an API key. The zero Restriction limits nothing.
type Restriction struct {
	ExpiresAt time.Time      `stored:"valid_until"` // zero: never
	Networks  []netip.Prefix `stored:"networks"`    // of callers, masked; empty: every network
}

// Expired reports whether the key has expired at now.
func (r Restriction) Expired(now time.Time) bool {
	return !r.ExpiresAt.IsZero() && !now.Before(r.ExpiresAt)
}

// Allows reports whether the key may be used from the address. An IPv4 address in
// IPv6 form counts as the IPv4 address. The zero address is in no network.
func (r Restriction) Allows(from netip.Addr) bool {
	from = from.Unmap().WithZone("")
	return len(r.Networks) == 0 || slices.ContainsFunc(r.Networks, func(p netip.Prefix) bool { return p.Contains(from) })
}

// Principal is the authenticated caller of a request.
type Principal struct {
	Key    KeyID    // of a key, or of a person
	Name   string   // of the key or the person
	Tenant TenantID // a tenant, or AllTenants
	Scopes []Scope
	Restriction
}

// Admit checks the restriction of the caller's key or sign-in for a request from the address at
// now. It returns CodeUnauthorized after the expiry, and CodeForbidden for an address in no
// allowed network and for a person without a role.
func (p Principal) Admit(now time.Time, from netip.Addr) error {
	switch {
	case p.Expired(now):
		return &Error{Code: CodeUnauthorized, Message: p.Key.credential() + " has expired"}
	case p.Key.IsPerson() && len(p.Scopes) == 0:
		return &Error{Code: CodeForbidden, Message: p.Name + " has no role in Surehook: ask an administrator for one of its groups"}
	case !p.Allows(from):
		return &Error{Code: CodeForbidden, Message: "the API key is limited to other networks"}
	}
	return nil
}

// Lacks returns the refusal of a principal without the scope.
func (p Principal) Lacks(scope Scope) error {
	return &Error{Code: CodeForbidden, Message: p.Key.credential() + " lacks the scope " + string(scope)}
}

// May reports whether the principal has the scope. ScopeAdmin includes every scope.
func (p Principal) May(scope Scope) bool {
	return slices.Contains(p.Scopes, scope) || slices.Contains(p.Scopes, ScopeAdmin)
}

// ActsFor reports whether the principal may access the tenant.
func (p Principal) ActsFor(tenant TenantID) bool {
	return p.Tenant == AllTenants || p.Tenant == tenant
}

// ParseKeyID checks s.
func ParseKeyID(s string) (KeyID, error) { return parseRandom[KeyID](s, keyPrefix, "key") }
