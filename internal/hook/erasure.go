package hook

import (
	"fmt"
	"strings"
)

// ErasureID is "era_" and 16 random characters.
type ErasureID string

const erasurePrefix = "era_"

// NewErasureID returns a fresh random id.
func NewErasureID() ErasureID { return ErasureID(erasurePrefix + randomSuffix()) }

// ParseErasureID checks s.
func ParseErasureID(s string) (ErasureID, error) {
	if suffix, ok := strings.CutPrefix(s, erasurePrefix); !ok || !isSuffix(suffix) {
		return "", NotFound("erasure")
	}
	return ErasureID(s), nil
}

// TenantClosing returns the error for a change of a tenant that is being erased.
func TenantClosing(tenant TenantID) *Error {
	return &Error{Code: CodeTenantClosing, Message: fmt.Sprintf("tenant %s is being erased; its name can be used again when the erasure is complete", tenant)}
}
