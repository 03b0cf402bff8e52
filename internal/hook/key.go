package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"
)

// Scope is something an API key may do.
type Scope string

// The scopes.
const (
	ScopeEventsWrite    Scope = "events:write"
	ScopeEndpointsWrite Scope = "endpoints:write"
	ScopeRead           Scope = "read"
	ScopeReplay         Scope = "replay"
	ScopeAdmin          Scope = "admin" // everything, keys included
)

// Scopes returns every scope.
func Scopes() []Scope {
	return []Scope{ScopeEventsWrite, ScopeEndpointsWrite, ScopeRead, ScopeReplay, ScopeAdmin}
}

// AllTenants as a key's tenant lets it act for any tenant.
const AllTenants TenantID = "*"

// APIKeyPrefix begins every API key.
const APIKeyPrefix = "shk_"

// APIKey is the record of an API key; the key itself is not kept.
type APIKey struct {
	ID        KeyID
	Name      string
	Tenant    TenantID // AllTenants or one
	Scopes    []Scope
	Hash      string // HashKey of the key
	CreatedAt time.Time
	// LastUsedOn is the UTC day on which the key was last checked, such as
	// "2026-11-21"; empty before its first use. Days sort as text.
	LastUsedOn string
}

// HashKey returns the lower-case hex SHA-256 of the key. A plain hash is
// enough, because a key carries 256 random bits.
func HashKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// Principal is who makes a request.
type Principal struct {
	Key    KeyID
	Tenant TenantID // AllTenants or one
	Scopes []Scope
}

// May reports whether the principal has the scope.
func (p Principal) May(scope Scope) bool {
	return slices.Contains(p.Scopes, scope) || slices.Contains(p.Scopes, ScopeAdmin)
}

// ActsFor reports whether the principal may touch what is the tenant's.
func (p Principal) ActsFor(tenant TenantID) bool {
	return p.Tenant == AllTenants || p.Tenant == tenant
}
