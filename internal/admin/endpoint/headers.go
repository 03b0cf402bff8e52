package endpoint

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"surehook.example/surehook/internal/hook"
)

// applyHeaders sets the given headers of e: a value replaces the stored one, an empty text
// removes the header, hook.Masked keeps the stored value, so a response can be sent back, and all
// other headers stay. The given values are in e.Headers until sealHeaders. Header names are
// case-insensitive (RFC 9110, section 5.1). A header that is given twice is not set; checkNames
// refuses it.
func (f Fields) applyHeaders(e *hook.Endpoint) {
	if f.Headers == nil || len(f.checkNames()) > 0 {
		return
	}
	e.Headers, e.SealedHeaders = maps.Clone(*f.Headers), maps.Clone(e.SealedHeaders)
	for name, value := range *f.Headers {
		if value == hook.Masked && hasHeader(e.SealedHeaders, name) {
			delete(e.Headers, name)
			continue
		}
		maps.DeleteFunc(e.SealedHeaders, func(other string, _ []byte) bool { return strings.EqualFold(name, other) })
		if value == "" && e.Version > 0 { // a new endpoint has nothing to remove
			delete(e.Headers, name)
		}
	}
}

// checkNames refuses a header that is given twice.
func (f Fields) checkNames() (errs hook.Fields) {
	if f.Headers == nil {
		return nil
	}
	seen := make(map[string]bool, len(*f.Headers))
	for name := range *f.Headers {
		seen[strings.ToLower(name)] = true
	}
	errs.Refuse(len(seen) < len(*f.Headers), "headers", "names a header twice")
	return errs
}

func hasHeader[V any](headers map[string]V, name string) bool {
	for other := range headers {
		if strings.EqualFold(name, other) {
			return true
		}
	}
	return false
}

// checkHeaders returns what is wrong with the headers, beyond what hook.ValidateEndpoint checks.
func checkHeaders(e hook.Endpoint) (errs hook.Fields) {
	errs.Refuse(len(e.Headers) <= hook.MaxHeaders && len(e.Headers)+len(e.SealedHeaders) > hook.MaxHeaders, "headers",
		"must have at most %d entries with the stored headers", hook.MaxHeaders)
	for name, value := range e.Headers {
		errs.Refuse(value == hook.Masked, "headers."+name, nothing)
	}
	return errs
}

// sealHeaders encrypts the given header values of e, and leaves no plain text.
func (a *Admin) sealHeaders(ctx context.Context, e *hook.Endpoint) error {
	if len(e.SealedHeaders)+len(e.Headers) == 0 {
		e.Headers, e.SealedHeaders = nil, nil // as stored
		return nil
	}
	sealed := make(map[string][]byte, len(e.SealedHeaders)+len(e.Headers))
	maps.Copy(sealed, e.SealedHeaders)
	for name, value := range e.Headers {
		text, err := a.Vault.Seal(ctx, hook.HeaderText(name, value), e.Tenant, e.ID)
		if err != nil {
			return fmt.Errorf("seal header of endpoint %s: %w", e.ID, err)
		}
		sealed[name] = text
	}
	e.Headers, e.SealedHeaders = nil, sealed
	return nil
}
