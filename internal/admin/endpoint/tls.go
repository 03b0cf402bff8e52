package endpoint

import (
	"context"
	"crypto/rand"
	"fmt"

	"surehook.example/surehook/internal/hook"
)

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
