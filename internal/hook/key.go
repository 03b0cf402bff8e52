package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"
)

// Scope is a permission of an API key.
type Scope string

// The scopes.
const (
	ScopeEventsWrite    Scope = "events:write"
	ScopeEndpointsWrite Scope = "endpoints:write"
	ScopeRead           Scope = "read"
	ScopeReplay         Scope = "replay"
	ScopeAdmin          Scope = "admin" // all operations, including the management of keys
)

// Scopes returns every scope.
func Scopes() []Scope {
	return []Scope{ScopeEventsWrite, ScopeEndpointsWrite, ScopeRead, ScopeReplay, ScopeAdmin}
}

// AllTenants as the tenant of a key permits access to all tenants.
const AllTenants TenantID = "*"

// APIKeyPrefix is the prefix of every API key.
const APIKeyPrefix = "shk_"

// APIKey is the record of an API key. The record holds a hash and not the key.
type APIKey struct {
	ID        KeyID
	Name      string
	Tenant    TenantID // a tenant, or AllTenants
	Scopes    []Scope
	Hash      string // HashKey of the key
	CreatedAt time.Time
	// LastUsedOn is the UTC day of the last successful check, such as
	// "2026-11-21"; empty before the first use. Days sort as text.
	LastUsedOn string
}

// HashKey returns the lower-case hex SHA-256 of the key. A plain hash is
// sufficient, because a key carries 256 random bits.
func HashKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// Principal is the authenticated caller of a request.
type Principal struct {
	Key    KeyID
	Tenant TenantID // a tenant, or AllTenants
	Scopes []Scope
}

// May reports whether the principal has the scope. ScopeAdmin includes every scope.
func (p Principal) May(scope Scope) bool {
	return slices.Contains(p.Scopes, scope) || slices.Contains(p.Scopes, ScopeAdmin)
}

// ActsFor reports whether the principal may access the tenant.
func (p Principal) ActsFor(tenant TenantID) bool {
	return p.Tenant == AllTenants || p.Tenant == tenant
}
