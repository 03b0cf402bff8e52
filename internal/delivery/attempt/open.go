package attempt

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/sign"
)

var (
	errNoHeader = errors.New("the sealed text is not of this header")
	errNoAuth   = errors.New("the sealed text is not of this authentication")
)

// Opener decrypts the secrets and headers of an endpoint, at its first call.
type Opener func() (*opened, error)

// opened holds the decrypted secrets and headers of an endpoint.
type opened struct {
	keys  []sign.Key        // valid at the first attempt of the batch, newest first
	own   map[string]string // the endpoint's headers, including that of an authentication by password or token
	grant *send.Grant       // nil: no access token is needed
	tls   send.TLS
}

// Opener returns a function that decrypts the secrets and headers of the endpoint at its first
// call, once for all attempts of a batch. If it fails, all of them fail and their messages come
// again.
func (m *Maker) Opener(ctx context.Context, e *hook.Endpoint) Opener {
	return sync.OnceValues(func() (_ *opened, err error) {
		o := new(opened)
		if o.keys, err = m.signingKeys(ctx, e, m.Now()); err != nil {
			return nil, fmt.Errorf("open secrets of endpoint %s: %w", e.ID, err)
		}
		if o.own, err = m.openHeaders(ctx, e); err != nil {
			return nil, fmt.Errorf("open headers of endpoint %s: %w", e.ID, err)
		}
		if err = m.openAuth(ctx, e, o); err != nil {
			return nil, fmt.Errorf("open authentication of endpoint %s: %w", e.ID, err)
		}
		if o.tls, err = m.openTLS(ctx, e); err != nil {
			return nil, fmt.Errorf("open TLS settings of endpoint %s: %w", e.ID, err)
		}
		return o, nil
	})
}

// signingKeys opens the endpoint's secrets valid at now, of the chosen schemes.
func (m *Maker) signingKeys(ctx context.Context, e *hook.Endpoint, now time.Time) ([]sign.Key, error) {
	var keys []sign.Key
	for _, secret := range e.Signing(now) {
		text, err := m.Vault.Open(ctx, secret.Sealed, e.Tenant, e.ID)
		if err != nil {
			return nil, fmt.Errorf("open: %w", err)
		}
		key, err := sign.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("parse: %w", err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// openHeaders opens the values of the endpoint's headers.
func (m *Maker) openHeaders(ctx context.Context, e *hook.Endpoint) (map[string]string, error) {
	headers := make(map[string]string, len(e.SealedHeaders))
	for name, sealed := range e.SealedHeaders {
		text, err := m.Vault.Open(ctx, sealed, e.Tenant, e.ID)
		if err != nil {
			return nil, fmt.Errorf("open: %w", err)
		}
		value, ok := hook.HeaderValue(name, text)
		if !ok {
			return nil, fmt.Errorf("open %s: %w", name, errNoHeader)
		}
		headers[name] = value
	}
	return headers, nil
}

// openAuth adds the header of the endpoint's authentication, or the grant for an access token.
// The header is one of the endpoint's own headers, which a redirect to another origin leaves
// out.
func (m *Maker) openAuth(ctx context.Context, e *hook.Endpoint, o *opened) error {
	if e.Auth.Type == hook.AuthNone {
		return nil
	}
	text, err := m.Vault.Open(ctx, e.Auth.Sealed, e.Tenant, e.ID)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	secret, ok := hook.AuthSecret(e.Auth.Type, text)
	if !ok {
		return errNoAuth
	}
	if e.Auth.Type == hook.AuthOAuth2 {
		o.grant = &send.Grant{For: e.ID, OAuth: e.Auth.OAuth, Secret: secret}
		return nil
	}
	o.own[hook.AuthorizationHeader] = e.Auth.Authorization(secret)
	return nil
}
