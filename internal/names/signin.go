package names

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// The roles of people who sign in, in SUREHOOK_OIDC_ROLES.
const (
	RoleOperator = "operator"  // everything but new API keys
	RoleSupport  = "support"   // reads and replays, over all tenants
	RoleReadOnly = "read-only" // reads, over all tenants
)

// Values of a sign-in that names none.
const (
	DefaultClaim  = "groups"
	DefaultScopes = "openid email profile"
)

// Roles returns the roles, the strongest first.
func Roles() []string { return []string{RoleOperator, RoleSupport, RoleReadOnly} }

// ParseRoles reads SUREHOOK_OIDC_ROLES, such as "operator=ops;support=desk;support=sales", into
// the role of each group. A group can have any character but a semicolon, and one role.
func ParseRoles(text string) (map[string]string, error) {
	roles := map[string]string{}
	for pair := range strings.SplitSeq(text, ";") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		role, group, _ := strings.Cut(pair, "=")
		role, group = strings.TrimSpace(role), strings.TrimSpace(group)
		switch {
		case !slices.Contains(Roles(), role):
			return nil, fmt.Errorf("%q is not a role: say operator, support or read-only, = and a group", pair)
		case group == "":
			return nil, fmt.Errorf("the role %s has no group", role)
		case roles[group] != "":
			return nil, fmt.Errorf("the group %q has two roles", group)
		}
		roles[group] = role
	}
	if len(roles) == 0 {
		return nil, errors.New(`no group has a role: say for example "operator=ops;support=desk"`)
	}
	return roles, nil
}

// SignIn is the sign-in of people by OpenID Connect. The zero SignIn has none: API keys alone.
type SignIn struct {
	Issuer   string   // https, as in the claim iss
	ClientID string   // the audience of tasks
	Roles    string   // for ParseRoles
	Claim    string   // of the groups in a task; empty for DefaultClaim
	Scopes   string   // that the pages ask for, openid among them; empty for DefaultScopes
	Origins  []string // of the issuer's token endpoint, if other than the issuer's
}

// Faults returns what is wrong with the setting; nil for the zero SignIn.
func (s SignIn) Faults() []error {
	var all []error
	add := func(bad bool, format string, args ...any) {
		if bad {
			all = append(all, fmt.Errorf(format, args...))
		}
	}
	if s.Issuer == "" {
		add(s.ClientID != "" || s.Roles != "" || s.Claim != "" || s.Scopes != "" || len(s.Origins) > 0, "a sign-in without an issuer has other settings")
		return all
	}
	add(!ValidProviderURL(s.Issuer), "the issuer %q is not an https URL without user, query and fragment", s.Issuer)
	add(s.ClientID == "", "the sign-in has no client id")
	if _, err := ParseRoles(s.Roles); err != nil {
		all = append(all, fmt.Errorf("the roles %q: %w", s.Roles, err))
	}
	add(s.Scopes != "" && !slices.Contains(strings.Fields(s.Scopes), "openid"), "the scopes %q are without openid", s.Scopes)
	add(slices.Contains([]string{"preferred_username", "name", "nickname"}, s.Claim), "people choose the claim %q themselves: no role may follow from it", s.Claim)
	for _, origin := range s.Origins {
		add(!ValidOrigin(origin) || strings.Contains(origin, "*"), "%q of the issuer's origins is not an https origin", origin)
	}
	return all
}

// ValidProviderURL reports whether the text is a URL of an issuer: https, or http with a
// loopback host, without user, query and fragment.
func ValidProviderURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.User == nil && u.RawQuery == "" && !u.ForceQuery && !strings.Contains(text, "#") &&
		!strings.Contains(text, "*") && ValidOrigin(u.Scheme+"://"+u.Host)
}
