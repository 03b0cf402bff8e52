package person

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

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
	sum := sha256.Sum256([]byte(c.Subject))
	return "sha256-" + hex.EncodeToString(sum[:])
}
