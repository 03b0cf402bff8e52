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
func (a *Admin) applyProfiles(names *[]string, e *hook.Endpoint) (wrong hook.Fields) {
	if names == nil {
		return nil
	}
	before := e.Profiles
	e.Profiles = make([]hook.SignatureProfile, len(*names))
	known := a.SignatureProfiles()
	for i, name := range *names {
		kept := slices.IndexFunc(before, func(p hook.SignatureProfile) bool { return p.Name == name })
		_, isKnown := known[name]
		e.Profiles[i] = a.Profiles[name] // zero for one of Surehook's
		e.Profiles[i].Name = name
		switch {
		case kept >= 0:
			e.Profiles[i] = before[kept]
		case !isKnown:
			wrong.Add(fmt.Sprintf("signature_profiles[%d]", i), "must be one of %s", strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
	return wrong
}
