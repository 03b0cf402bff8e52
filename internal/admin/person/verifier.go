// Package person identifies people by the ID tokens of one OpenID Connect issuer. The
// package knows tokens, the issuer's keys and roles, but no API keys.
//
// # What a token must have
//
// A signature of RS256, PS256, ES256 or EdDSA by a key of the issuer's JWKS, named by kid;
// the issuer and the client id of the deployment; an expiry; and a subject. Every other
// token is refused, whoever signed it. Keys inside a token are ignored.
//
// # Roles
//
// A claim of the token lists groups, and the deployment says which group has which role.
// A person without a role is a principal without scopes, which every route refuses.
package person

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"surehook.example/surehook/internal/admin/apikey"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

const (
	// MaxToken bounds a token in bytes. API Gateway admits 10 KiB of headers.
	MaxToken = 8 << 10
	// Leeway is the tolerated difference between the clocks of the issuer and of Surehook.
	Leeway = 30 * time.Second
)

// algorithms are those with a public and a private key. They exclude HMAC, for which Surehook
// would need the secret, and "none".
func algorithms() []jose.SignatureAlgorithm {
	return []jose.SignatureAlgorithm{jose.RS256, jose.PS256, jose.ES256, jose.EdDSA}
}

// Verifier identifies people. All fields are required.
type Verifier struct {
	*KeySet // its issuer is the claim iss

	ClientID string            // in the claim aud
	Claim    string            // a string or a list of strings: the groups of the person
	Roles    map[string]string // of each group: a role of package names
}

// Identify returns the person of the token. The principal expires with the token.
// CodeUnauthorized means that the token is not valid; the reason is logged, and the caller
// does not learn the reason. Any other error means that the keys of the issuer are not known.
func (v *Verifier) Identify(ctx context.Context, token string) (hook.Principal, error) {
	t, err := v.verify(ctx, token)
	if err == nil {
		return v.principal(t), nil
	}
	if hook.CodeOf(err) == hook.CodeUnauthorized {
		v.Log.LogAttrs(ctx, slog.LevelInfo, "person.refused", slog.Any(names.LogError, err))
	}
	return hook.Principal{}, err
}

// claims are those of a verified token.
type claims struct {
	jwt.Claims

	all map[string]any
}

func (v *Verifier) verify(ctx context.Context, token string) (claims, error) {
	if len(token) > MaxToken {
		return claims{}, refused("it is longer than %d bytes", MaxToken)
	}
	parsed, err := jwt.ParseSigned(token, algorithms())
	if err != nil {
		return claims{}, refused("it is not a token of RS256, PS256, ES256 or EdDSA")
	}
	header := parsed.Headers[0] // a compact token has one
	// A logout token and an access token for another API can have the same issuer and audience.
	if kind, typed := header.ExtraHeaders[jose.HeaderType]; typed && kind != "JWT" {
		return claims{}, refused("its type is not JWT")
	}
	if header.KeyID == "" {
		return claims{}, refused("it names no key")
	}
	keys, err := v.Key(ctx, header.KeyID)
	if err != nil {
		return claims{}, fmt.Errorf("find the key of a token: %w", err)
	}
	var c claims
	err = errors.New("the issuer has no such key")
	for _, key := range keys {
		if key.Algorithm != "" && key.Algorithm != header.Algorithm {
			continue
		}
		c = claims{}
		if err = parsed.Claims(key.Key, &c.Claims, &c.all); err == nil {
			break
		}
	}
	if err != nil {
		return claims{}, refused("its signature, or the form of its claims, is wrong: %w", err)
	}
	if err := v.check(c); err != nil {
		return claims{}, err
	}
	return c, nil
}

// check checks the claims of a token with a right signature.
func (v *Verifier) check(c claims) error {
	expected := jwt.Expected{Issuer: v.Issuer, AnyAudience: jwt.Audience{v.ClientID}, Time: v.Now()}
	if err := c.ValidateWithLeeway(expected, Leeway); err != nil {
		return refused("its claims are wrong: %w", err)
	}
	switch party, named := c.all["azp"]; {
	case c.Issuer == "": // Expected ignores what is empty
		return refused("it names no issuer")
	case c.Expiry == nil:
		return refused("it has no expiry")
	case c.Subject == "":
		return refused("it names no subject")
	case named && party != v.ClientID, !named && len(c.Audience) > 1:
		return refused("it was issued to another client")
	case !c.ofSignIn():
		return refused("it is a token of another kind")
	}
	return nil
}

// ofSignIn reports whether the payload can be that of an ID token. Providers tell access and
// logout tokens apart by these claims: typ (Keycloak), token_use (Cognito), and events (OpenID
// Connect Back-Channel Logout).
func (c claims) ofSignIn() bool {
	kind, typed := c.all["typ"]
	use, used := c.all["token_use"]
	_, logout := c.all["events"]
	return (!typed || kind == "ID") && (!used || use == "id") && !logout
}

func refused(format string, args ...any) error {
	return &hook.Error{Code: hook.CodeUnauthorized, Message: "the sign-in is not valid", Err: fmt.Errorf(format, args...)}
}

// groups returns the strings in the claim. Values of other types are ignored, and so is an email
// address that the issuer did not verify.
func (c claims) groups(claim string) []string {
	if claim == "email" && c.email() == "" {
		return nil
	}
	switch value := c.all[claim].(type) {
	case string:
		return []string{value}
	case []any:
		var all []string
		for _, one := range value {
			if text, ok := one.(string); ok {
				all = append(all, text)
			}
		}
		return all
	}
	return nil
}

func (v *Verifier) principal(c claims) hook.Principal {
	name := c.name()
	p := hook.Principal{
		Key: hook.PersonID(name), Name: name, Tenant: hook.AllTenants, Scopes: scopesOf(v.Roles, c.groups(v.Claim)),
		Restriction: hook.Restriction{ExpiresAt: c.Expiry.Time().Add(Leeway).UTC()},
	}
	// People can often choose their name, but never their subject.
	if subject := c.subject(); subject != name {
		p.Name += " (" + subject + ")"
	}
	return p
}

// email returns the address that the issuer verified; empty for none.
func (c claims) email() string {
	if verified := c.all["email_verified"]; verified != true && verified != "true" {
		return ""
	}
	email, _ := c.all["email"].(string)
	return email
}

// name returns the first of the e-mail address, the user name and the subject that can be
// in an id.
func (c claims) name() string {
	user, _ := c.all["preferred_username"].(string)
	all := []string{c.email(), user, c.subject()}
	return all[slices.IndexFunc(all, hook.ValidPersonName)]
}

// scopesOf returns the scopes of the strongest role of the groups; nil for no role. roles
// has the role of each group.
func scopesOf(roles map[string]string, groups []string) []hook.Scope {
	scopes := map[string][]hook.Scope{
		names.RoleOperator: {hook.ScopeAdmin},
		names.RoleSupport:  {hook.ScopeRead, hook.ScopeReplay, hook.ScopeTenantsRead},
		names.RoleReadOnly: {hook.ScopeRead, hook.ScopeTenantsRead},
	}
	for _, role := range names.Roles() {
		if slices.ContainsFunc(groups, func(group string) bool { return roles[group] == role }) {
			return scopes[role]
		}
	}
	return nil
}

// subject returns the subject in a form for ids: a subject with other characters, or a
// longer one, by its hash.
func (c claims) subject() string {
	if hook.ValidPersonName(c.Subject) {
		return c.Subject
	}
	return fmt.Sprintf("sha256-%x", sha256.Sum256([]byte(c.Subject)))
}

// New returns the verifier of the deployment's sign-in; nil for the zero SignIn.
func New(s names.SignIn, log *slog.Logger, now func() time.Time) (apikey.People, error) {
	if s.Issuer == "" {
		return nil, nil //nolint:nilnil // no sign-in is no fault
	}
	groups, err := names.ParseRoles(s.Roles)
	if err != nil {
		return nil, fmt.Errorf("read roles: %w", err)
	}
	return &Verifier{
		KeySet: &KeySet{Issuer: s.Issuer, Client: NewClient(), Log: log, Now: now}, ClientID: s.ClientID, Claim: cmp.Or(s.Claim, names.DefaultClaim), Roles: groups,
	}, nil
}
