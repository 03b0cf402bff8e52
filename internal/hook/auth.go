package hook

import (
	"encoding/base64"
	"regexp"
	"strings"
)

// Bounds of an endpoint's authentication, in bytes. docs/limits.md lists them.
const (
	MaxAuthUsername = 255
	MaxAuthPassword = 512
	MaxAuthToken    = 4096 // a bearer token, or a client secret
	MaxClientID     = 255
	MaxOAuthScope   = 1024 // the scope, and the audience
)

// maxAccessToken bounds an access token, in bytes: many receivers accept 8 KiB of headers.
const maxAccessToken = 8 << 10

// AuthorizationHeader is the header that carries the credentials of an Auth.
const AuthorizationHeader = "Authorization"

// The characters of RFC 6749, appendix A.
var (
	bearerToken = regexp.MustCompile(`^[\x21-\x7e]+$`)
	clientText  = regexp.MustCompile(`^[\x20-\x7e]+$`)
	oauthScope  = regexp.MustCompile(`^[!#-\[\]-~]+( [!#-\[\]-~]+)*$`)
)

// Auth is how Surehook authenticates itself to a receiver. The zero Auth means without
// authentication.
type Auth struct {
	Type     AuthType `stored:"type"`
	Username string   `stored:"username"` // basic only
	OAuth    OAuth    `stored:",inline"`  // oauth2 only
	Secret   string   // password, token or client secret in plain text: only in requests, never stored
	Sealed   []byte   `stored:"sealed"` // AuthText of the secret, encrypted with the endpoint id as context
}

// OAuth describes how to get an access token with client credentials (RFC 6749, section 4.4). The
// zero OAuth means that no access token is needed.
type OAuth struct {
	TokenURL string `json:"token_url" stored:"token_url"` // URL of the token endpoint
	ClientID string `json:"client_id" stored:"client_id"`
	Scope    string `json:"scope,omitempty" stored:"scope"`       // words between single spaces; empty: the token endpoint chooses
	Audience string `json:"audience,omitempty" stored:"audience"` // not in the RFC, but some token endpoints require it; empty: none
	InBody   bool   `json:"in_body,omitempty" stored:"in_body"`   // send the client's id and secret in the body instead of with HTTP basic
}

// AuthType is a scheme of authentication.
type AuthType uint8

// The types of authentication. AuthNone is the zero AuthType.
const (
	AuthNone   AuthType = iota
	AuthBasic           // RFC 7617: user name and password
	AuthBearer          // RFC 6750: a token that does not change
	AuthOAuth2          // RFC 6749, section 4.4: an access token from a token endpoint
)

// String returns the type as it appears in the API.
func (t AuthType) String() string {
	return Names[AuthType]{AuthNone: "none", AuthBasic: "basic", AuthBearer: "bearer", AuthOAuth2: "oauth2"}.Of(t)
}

// AuthText returns the text to encrypt for a secret of the type. Its prefix ensures that the
// ciphertext cannot be used as a secret of another type, as a header (no header name contains a
// space) or as a signing secret.
func AuthText(t AuthType, secret string) string { return "auth " + t.String() + ": " + secret }

// AuthSecret is the inverse of AuthText; false for any other text.
func AuthSecret(t AuthType, text string) (string, bool) {
	return strings.CutPrefix(text, AuthText(t, ""))
}

// AuthField returns the request field that carries the secret of the type; empty for AuthNone.
func AuthField(t AuthType) string {
	return map[AuthType]string{AuthBasic: "auth.password", AuthBearer: "auth.token", AuthOAuth2: "auth.client_secret"}[t]
}

// Authorization returns the value of the Authorization header. secret is the decrypted secret,
// or the access token for AuthOAuth2. The value is empty for AuthNone.
func (a Auth) Authorization(secret string) string {
	switch a.Type {
	case AuthBasic:
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(a.Username+":"+secret))
	case AuthBearer, AuthOAuth2:
		return "Bearer " + secret
	case AuthNone:
	}
	return ""
}

// validateAuth checks the fields, and that there is a secret, new or stored.
func validateAuth(a Auth) []FieldError {
	var errs Fields
	secret := func(valid bool, format string, args ...any) {
		field := AuthField(a.Type)
		switch {
		case a.Secret == Masked:
			errs.Add(field, "%s stands for a stored value, and there is none%s", Masked, afterMask(a.Type))
		case a.Secret == "" && len(a.Sealed) == 0:
			errs.Add(field, "is missing")
		case a.Secret != "" && !valid:
			errs.Add(field, format, args...)
		}
	}
	switch a.Type {
	case AuthBasic:
		if a.Username == "" {
			errs.Add("auth.username", "is missing")
		} else if len(a.Username) > MaxAuthUsername || !ValidText(a.Username) || strings.Contains(a.Username, ":") {
			errs.Add("auth.username", "must be at most %d bytes without colons and control characters", MaxAuthUsername)
		}
		secret(len(a.Secret) <= MaxAuthPassword && ValidText(a.Secret),
			"must be at most %d bytes without control characters", MaxAuthPassword)
	case AuthBearer:
		secret(len(a.Secret) <= MaxAuthToken && bearerToken.MatchString(a.Secret),
			"must be at most %d visible ASCII characters without spaces", MaxAuthToken)
	case AuthOAuth2:
		errs.Refuse(a.OAuth.TokenURL == "", "auth.token_url", "is missing")
		if a.OAuth.ClientID == "" {
			errs.Add("auth.client_id", "is missing")
		} else if len(a.OAuth.ClientID) > MaxClientID || !clientText.MatchString(a.OAuth.ClientID) {
			errs.Add("auth.client_id", "must be at most %d ASCII characters without control characters", MaxClientID)
		}
		secret(len(a.Secret) <= MaxAuthToken && clientText.MatchString(a.Secret),
			"must be at most %d ASCII characters without control characters", MaxAuthToken)
		scope, audience := a.OAuth.Scope, a.OAuth.Audience
		errs.Refuse(scope != "" && (len(scope) > MaxOAuthScope || !oauthScope.MatchString(scope)),
			"auth.scope", `must be at most %d bytes: words of visible ASCII characters without " and \, between single spaces`, MaxOAuthScope)
		errs.Refuse(audience != "" && (len(audience) > MaxOAuthScope || !bearerToken.MatchString(audience)),
			"auth.audience", "must be at most %d visible ASCII characters without spaces", MaxOAuthScope)
	case AuthNone:
	}
	return errs
}

// afterMask returns what else must stay unchanged for "***" to keep the stored secret. A client
// secret is bound to one token endpoint, client, scope and audience: a change of these must not
// send the stored secret elsewhere.
func afterMask(t AuthType) string {
	if t == AuthOAuth2 {
		return " for this token_url, client_id, scope, audience and client_auth"
	}
	return ""
}

// ValidAccessToken reports whether s can be the access token of a request: 1 to 8192
// visible ASCII characters.
func ValidAccessToken(s string) bool { return len(s) <= maxAccessToken && bearerToken.MatchString(s) }
