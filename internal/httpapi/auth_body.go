package httpapi

import (
	"surehook.example/surehook/internal/hook"
)

// authBody is the authentication at the receiver. Absent fields are nil.
type authBody struct {
	Type     *hook.AuthType `json:"type"`
	Username *string        `json:"username,omitzero"`
	Password *string        `json:"password,omitzero"`
	Token    *string        `json:"token,omitzero"`

	TokenURL     *string     `json:"token_url,omitzero"`
	ClientID     *string     `json:"client_id,omitzero"`
	ClientSecret *string     `json:"client_secret,omitzero"`
	Scope        *string     `json:"scope,omitzero"`
	Audience     *string     `json:"audience,omitzero"`
	ClientAuth   *clientAuth `json:"client_auth,omitzero"`
}

// clientAuth says where a request for a token carries the client's id and secret: true is its body.
type clientAuth bool

// String returns the place as it appears in the API.
func (c clientAuth) String() string {
	if c {
		return "body"
	}
	return "basic"
}

// auth translates the body. Package hook checks the bounds.
func (b authBody) auth() (a *hook.Auth, errs hook.Fields) {
	if b.Type == nil {
		errs.Add("auth.type", "is missing")
		return nil, errs
	}
	t := *b.Type
	a = &hook.Auth{Type: t}
	for _, field := range []struct {
		name  string
		of    hook.AuthType
		given *string
		to    *string
	}{
		{"auth.username", hook.AuthBasic, b.Username, &a.Username},
		{"auth.password", hook.AuthBasic, b.Password, &a.Secret},
		{"auth.token", hook.AuthBearer, b.Token, &a.Secret},
		{"auth.token_url", hook.AuthOAuth2, b.TokenURL, &a.OAuth.TokenURL},
		{"auth.client_id", hook.AuthOAuth2, b.ClientID, &a.OAuth.ClientID},
		{"auth.client_secret", hook.AuthOAuth2, b.ClientSecret, &a.Secret},
		{"auth.scope", hook.AuthOAuth2, b.Scope, &a.OAuth.Scope},
		{"auth.audience", hook.AuthOAuth2, b.Audience, &a.OAuth.Audience},
	} {
		switch {
		case field.given == nil:
		case field.of != t:
			errs.Add(field.name, "is for the type %s only", field.of)
		default:
			*field.to = *field.given
		}
	}
	if b.ClientAuth != nil {
		a.OAuth.InBody = bool(*b.ClientAuth)
		errs.Refuse(t != hook.AuthOAuth2, "auth.client_auth", "is for the type %s only", hook.AuthOAuth2)
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return a, nil
}

// viewAuth returns the authentication, with a mask in place of the secret.
func viewAuth(a hook.Auth) *authBody {
	secret := orNil(a.Secret)
	if a.Secret != hook.Masked && a.Secret != newValue {
		secret = orNil(mask(a.Secret))
	}
	view := &authBody{Type: &a.Type}
	switch a.Type {
	case hook.AuthBasic:
		view.Username, view.Password = &a.Username, secret
	case hook.AuthBearer:
		view.Token = secret
	case hook.AuthOAuth2:
		view.TokenURL, view.ClientID, view.ClientSecret = &a.OAuth.TokenURL, &a.OAuth.ClientID, secret
		view.Scope, view.Audience, view.ClientAuth = orNil(a.OAuth.Scope), orNil(a.OAuth.Audience), new(clientAuth(a.OAuth.InBody))
	case hook.AuthNone:
	}
	return view
}

// orNil returns nil for an empty text.
func orNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
