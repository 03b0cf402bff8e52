package httpapi

import (
	"surehook/internal/hook"
)

// authBody is the authentication at a receiver in a request. Absent fields are nil.
type authBody struct {
	Type     *string `json:"type"`
	Username *string `json:"username"`
	Password *string `json:"password"`
	Token    *string `json:"token"`
}

// auth translates the body. Package hook checks the bounds.
func (b authBody) auth() (a hook.Auth, errs fieldErrors) {
	if b.Type == nil {
		errs.add("auth.type", "is missing")
		return a, errs
	}
	t, wrong := choose("auth.type", *b.Type, hook.AuthNone, hook.AuthBasic, hook.AuthBearer)
	if len(wrong) > 0 {
		return a, wrong
	}
	a.Type = t
	for _, field := range []struct {
		name  string
		of    hook.AuthType
		given *string
		to    *string
	}{
		{"auth.username", hook.AuthBasic, b.Username, &a.Username},
		{"auth.password", hook.AuthBasic, b.Password, &a.Secret},
		{"auth.token", hook.AuthBearer, b.Token, &a.Secret},
	} {
		switch {
		case field.given == nil:
		case field.of != t:
			errs.add(field.name, "is for the type "+field.of.String()+" only")
		default:
			*field.to = *field.given
		}
	}
	return a, errs
}

// masked returns the body for a record, without the secrets.
func (b authBody) masked() *authBody {
	b.Password, b.Token = maskedText(b.Password), maskedText(b.Token)
	return &b
}

// authView is the authentication in a response.
type authView struct {
	Type     string `json:"type"`
	Username string `json:"username,omitzero"`
	Password string `json:"password,omitzero"`
	Token    string `json:"token,omitzero"`
}

// viewAuth returns the authentication with secret, a mask, in the place of the secret.
func viewAuth(a hook.Auth, secret string) authView {
	view := authView{Type: a.Type.String()}
	switch a.Type {
	case hook.AuthBasic:
		view.Username, view.Password = a.Username, secret
	case hook.AuthBearer:
		view.Token = secret
	case hook.AuthNone:
	}
	return view
}
