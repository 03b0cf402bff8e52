package endpoint

import (
	"context"
	"crypto/rand"
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

// applyAuth replaces the authentication of e. The secret hook.Masked keeps the stored secret of
// the same type, so a response can be sent back. A client secret is kept only if the other
// settings stay the same: nobody may send a secret that they cannot read to another token
// endpoint, or use it to get an access token for another scope or audience.
func (f Fields) applyAuth(e *hook.Endpoint) {
	if f.Auth == nil {
		return
	}
	stored := e.Auth
	e.Auth = *f.Auth
	e.Auth.OAuth.TokenURL = strings.TrimSpace(e.Auth.OAuth.TokenURL)
	if e.Auth.Secret == hook.Masked && stored.Type == e.Auth.Type && stored.OAuth == e.Auth.OAuth {
		e.Auth.Secret, e.Auth.Sealed = "", stored.Sealed
	}
}

// checkAuth refuses a forbidden token endpoint, and two sources of one header.
func (a *Admin) checkAuth(e hook.Endpoint) (errs hook.Fields) {
	if e.Auth.Type == hook.AuthNone {
		return nil
	}
	if e.Auth.OAuth.TokenURL != "" { // ValidateEndpoint reports an empty URL
		message := a.policyOf(e).CheckURL(e.Auth.OAuth.TokenURL)
		errs.Refuse(message != "", "auth.token_url", "%s", message)
	}
	own := hasHeader(e.SealedHeaders, hook.AuthorizationHeader) || hasHeader(e.Headers, hook.AuthorizationHeader)
	errs.Refuse(own, "auth.type", "must be none with a header Authorization of your own: remove the header, or say none")
	return errs
}

// sealAuth encrypts the given secret of e, and leaves no plain text.
func (a *Admin) sealAuth(ctx context.Context, e *hook.Endpoint) error {
	if e.Auth.Secret == "" {
		return nil
	}
	sealed, err := a.Vault.Seal(ctx, hook.AuthText(e.Auth.Type, e.Auth.Secret), e.Tenant, e.ID)
	if err != nil {
		return fmt.Errorf("seal authentication of endpoint %s: %w", e.ID, err)
	}
	e.Auth.Secret, e.Auth.Sealed = "", sealed
	return nil
}

// nothing is what is wrong with a mask in place of a value that is not stored.
const nothing = hook.Masked + " stands for a stored value, and there is none"

// applyTLS replaces the TLS settings of e. The text hook.Masked keeps the stored value, so a response
// can be sent back as it is. The certificate and the key can only be kept together, because Admin
// cannot read the stored key, and so could not check that it fits a new certificate.
func (a *Admin) applyTLS(ctx context.Context, f Fields, e *hook.Endpoint) ([]hook.FieldError, error) {
	if f.TLS == nil {
		return nil, nil
	}
	m, stored := *f.TLS, e.TLS
	keepCA, keepCertificate, keepKey := m.CA == hook.Masked, m.Certificate == hook.Masked, m.Key == hook.Masked
	var errs hook.Fields
	errs.Refuse(keepCA && !stored.CA, "tls.ca", nothing)
	errs.Refuse(keepCertificate && !stored.Client, "tls.certificate", nothing)
	errs.Refuse(keepKey && !stored.Client, "tls.key", nothing)
	errs.Refuse(keepCertificate != keepKey, "tls.key", "must come with its certificate: "+hook.Masked+" for both, or for none")
	switch {
	case len(errs) > 0:
		return errs, nil
	case m.CA == "" && m.Certificate == "" && m.Key == "":
		if stored.On() {
			e.TLS = hook.TLS{Material: &hook.Material{}}
		}
		return nil, nil
	case stored.On() && keepCA == stored.CA && keepCertificate == stored.Client && (keepCA || m.CA == "") && (keepCertificate || m.Certificate == "" && m.Key == ""):
		return nil, nil // unchanged, as shown in responses
	}
	if keepCA || keepCertificate {
		old, err := a.Store.TLSMaterial(ctx, e.Tenant, e.ID)
		if err != nil && hook.CodeOf(err) != hook.CodeNotFound {
			return nil, fmt.Errorf("read TLS settings of endpoint %s: %w", e.ID, err)
		}
		if old.ID != stored.ID { // replaced or removed meanwhile
			return nil, hook.Conflict("the endpoint is being changed by others; try again")
		}
		if keepCA {
			m.CA = old.CA
		}
		if keepCertificate {
			m.Certificate, m.Key, m.Sealed = old.Certificate, "", old.Sealed
		}
	}
	e.TLS, errs = hook.NewTLS(rand.Text(), m, a.now())
	return errs, nil
}

// sealTLS replaces a new key of e by its ciphertext.
func (a *Admin) sealTLS(ctx context.Context, e *hook.Endpoint) error {
	if e.TLS.Material == nil || e.TLS.Material.Key == "" {
		return nil
	}
	m := *e.TLS.Material
	sealed, err := a.Vault.Seal(ctx, hook.KeyText(m.Key), e.Tenant, e.ID)
	if err != nil {
		return fmt.Errorf("seal TLS key of endpoint %s: %w", e.ID, err)
	}
	m.Key, m.Sealed = "", sealed
	e.TLS.Material = &m
	return nil
}
