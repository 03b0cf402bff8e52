package hook

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
)

// Bounds of the authentication of an endpoint, in bytes. docs/limits.md lists the bounds.
const (
	MaxAuthUsername = 255
	MaxAuthPassword = 512
	MaxAuthToken    = 4096
)

// AuthorizationHeader is the header with the credentials of an Auth.
const AuthorizationHeader = "Authorization"

var bearerToken = regexp.MustCompile(`^[\x21-\x7e]+$`)

// Auth is the authentication of Surehook at a receiver. The zero Auth is none.
type Auth struct {
	Type     AuthType
	Username string // basic only
	Secret   string // password or token, in clear: of requests only, never stored
	Sealed   []byte // AuthText of the secret, encrypted, with the endpoint id as context
}

// AuthType is a scheme of authentication.
type AuthType uint8

// The types of authentication. AuthNone is the zero AuthType.
const (
	AuthNone   AuthType = iota
	AuthBasic           // RFC 7617: user name and password
	AuthBearer          // RFC 6750: a token that does not change
)

// String returns the type as it appears in the API.
func (t AuthType) String() string {
	switch t {
	case AuthNone:
		return "none"
	case AuthBasic:
		return "basic"
	case AuthBearer:
		return "bearer"
	}
	return "unknown"
}

// AuthText returns the text to encrypt for a secret of the type. The beginning keeps a
// ciphertext from serving as a secret of another type, as a header (no header name has a
// space) or as a signing secret.
func AuthText(t AuthType, secret string) string { return "auth " + t.String() + ": " + secret }

// AuthSecret is the inverse of AuthText; false for any other text.
func AuthSecret(t AuthType, text string) (string, bool) {
	return strings.CutPrefix(text, AuthText(t, ""))
}

// Authorization returns the value of the header for the opened secret; empty for AuthNone.
func (a Auth) Authorization(secret string) string {
	switch a.Type {
	case AuthBasic:
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(a.Username+":"+secret))
	case AuthBearer:
		return "Bearer " + secret
	case AuthNone:
	}
	return ""
}

// validateAuth checks the given fields, and that there is a secret, given or sealed.
func validateAuth(a Auth) []FieldError {
	var errs []FieldError
	add := func(field, format string, args ...any) {
		errs = append(errs, FieldError{field, fmt.Sprintf(format, args...)})
	}
	secret := func(field string, valid bool, format string, args ...any) {
		switch {
		case a.Secret == Masked:
			add(field, Masked+" stands for a stored value, and there is none")
		case a.Secret == "" && len(a.Sealed) == 0:
			add(field, "is missing")
		case a.Secret != "" && !valid:
			add(field, format, args...)
		}
	}
	switch a.Type {
	case AuthBasic:
		if a.Username == "" {
			add("auth.username", "is missing")
		} else if len(a.Username) > MaxAuthUsername || !ValidText(a.Username) || strings.Contains(a.Username, ":") {
			add("auth.username", "must be at most %d bytes without colons and control characters", MaxAuthUsername)
		}
		secret("auth.password", len(a.Secret) <= MaxAuthPassword && ValidText(a.Secret),
			"must be at most %d bytes without control characters", MaxAuthPassword)
	case AuthBearer:
		secret("auth.token", len(a.Secret) <= MaxAuthToken && bearerToken.MatchString(a.Secret),
			"must be at most %d visible ASCII characters without spaces", MaxAuthToken)
	case AuthNone:
	}
	return errs
}
