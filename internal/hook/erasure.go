package hook

import "fmt"

// ErasureID is "era_" and 16 random characters.
type ErasureID string

const erasurePrefix = "era_"

// NewErasureID returns a fresh random id.
func NewErasureID() ErasureID { return ErasureID(erasurePrefix + randomSuffix()) }

// ParseErasureID checks s.
func ParseErasureID(s string) (ErasureID, error) {
	return parseRandom[ErasureID](s, erasurePrefix, "erasure")
}

// TenantClosing returns the error for a change of a tenant that is being erased.
func TenantClosing(tenant TenantID) *Error {
	return &Error{Code: CodeTenantClosing, Message: fmt.Sprintf("tenant %s is being erased; its name can be used again when the erasure is complete", tenant)}
}
