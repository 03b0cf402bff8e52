package endpoint

import (
	"context"
	"fmt"
	"strings"

	"surehook.example/surehook/internal/hook"
)

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
