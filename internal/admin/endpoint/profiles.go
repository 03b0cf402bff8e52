package endpoint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/sign"
)

// SignatureProfiles returns the profiles that endpoints may name, Surehook's and the
// deployment's.
func (a *Admin) SignatureProfiles() map[string]hook.SignatureProfile {
	return sign.Known(a.Profiles)
}

// newProfiles returns the names for a new endpoint.
func (a *Admin) newProfiles() []string {
	if len(a.NewProfiles) > 0 {
		return a.NewProfiles
	}
	return []string{hook.ProfileStandard}
}

// applyProfiles sets the named profiles. A profile that the endpoint already has stays as it was
// saved, because receivers rely on it.
func (a *Admin) applyProfiles(names *[]string, e *hook.Endpoint) (wrong []hook.FieldError) {
	if names == nil {
		return nil
	}
	before := e.Profiles
	e.Profiles = make([]hook.SignatureProfile, len(*names))
	known := a.SignatureProfiles()
	for i, name := range *names {
		kept := slices.IndexFunc(before, func(p hook.SignatureProfile) bool { return p.Name == name })
		own, isOwn := a.Profiles[name]
		_, isKnown := known[name]
		switch {
		case kept >= 0:
			e.Profiles[i] = before[kept]
		case isOwn:
			own.Name = name
			e.Profiles[i] = own
		case isKnown:
			e.Profiles[i] = hook.SignatureProfile{Name: name}
		default:
			e.Profiles[i] = hook.SignatureProfile{Name: name}
			wrong = append(wrong, hook.FieldError{
				Field: fmt.Sprintf("signature_profiles[%d]", i), Message: "must be one of " + strings.Join(slices.Sorted(maps.Keys(known)), ", "),
			})
		}
	}
	return wrong
}
