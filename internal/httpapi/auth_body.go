package httpapi

import (
	"surehook.example/surehook/internal/hook"
)

// authBody is the authentication at the receiver. Absent fields are nil.
type authBody struct {
	Type     *string `json:"type"`
	Username *string `json:"username,omitzero"`
	Password *string `json:"password,omitzero"`
	Token    *string `json:"token,omitzero"`

	TokenURL     *string `json:"token_url,omitzero"`
	ClientID     *string `json:"client_id,omitzero"`
	ClientSecret *string `json:"client_secret,omitzero"`
	Scope        *string `json:"scope,omitzero"`
	Audience     *string `json:"audience,omitzero"`
	ClientAuth   *string `json:"client_auth,omitzero"`
}

// clientAuth says where a request for a token carries the client's id and secret.
type clientAuth bool

const (
	inHeader clientAuth = false
	inBody   clientAuth = true
)

// String returns the place as it appears in the API.
func (c clientAuth) String() string {
	if c == inBody {
		return "body"
	}
	return "basic"
}

// auth translates the body. Package hook checks the bounds.
func (b authBody) auth() (a hook.Auth, errs fieldErrors) {
	if b.Type == nil {
		errs.add("auth.type", "is missing")
		return a, errs
	}
	t, wrong := choose("auth.type", *b.Type, hook.AuthNone, hook.AuthBasic, hook.AuthBearer, hook.AuthOAuth2)
	if len(wrong) > 0 {
		return a, wrong
	}
	a.Type = t
	var place string
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
		{"auth.client_auth", hook.AuthOAuth2, b.ClientAuth, &place},
	} {
		switch {
		case field.given == nil:
		case field.of != t:
			errs.add(field.name, "is for the type "+field.of.String()+" only")
		default:
			*field.to = *field.given
		}
	}
	if b.ClientAuth != nil && t == hook.AuthOAuth2 {
		chosen, wrong := choose("auth.client_auth", place, inHeader, inBody)
		a.OAuth.InBody, errs = bool(chosen), append(errs, wrong...)
	}
	return a, errs
}

// masked returns the body for a record, without the secrets, and without the user name and
// password of the URL.
func (b authBody) masked() *authBody {
	b.Password, b.Token, b.ClientSecret = maskedText(b.Password), maskedText(b.Token), maskedText(b.ClientSecret)
	if b.TokenURL != nil {
		b.TokenURL = new(maskedURL(*b.TokenURL))
	}
	return &b
}

// viewAuth returns the authentication, with a mask in place of the secret.
func viewAuth(a hook.Auth, secret string) *authBody {
	view := &authBody{Type: new(a.Type.String())}
	switch a.Type {
	case hook.AuthBasic:
		view.Username, view.Password = &a.Username, &secret
	case hook.AuthBearer:
		view.Token = &secret
	case hook.AuthOAuth2:
		view.TokenURL, view.ClientID, view.ClientSecret = &a.OAuth.TokenURL, &a.OAuth.ClientID, &secret
		view.Scope, view.Audience, view.ClientAuth = orNil(a.OAuth.Scope), orNil(a.OAuth.Audience), new(clientAuth(a.OAuth.InBody).String())
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
