// Package profiles reads the signature profiles that a deployment defines. It is separate from
// package sign, which signs by the profiles, so that receivers that verify with package sign do
// not depend on the JSON decoder here.
package profiles

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/sign"
)

// Parse parses the deployment's own profiles: a JSON object of definitions by name. The names of
// Surehook's own profiles are taken. An empty text means no profiles. The error is a *hook.Error
// with CodeInvalid.
func Parse(text []byte) (map[string]hook.SignatureProfile, error) {
	if len(text) == 0 {
		return nil, nil
	}
	var own map[string]hook.SignatureProfile
	if err := json.Unmarshal(text, &own, json.RejectUnknownMembers(true)); err != nil {
		return nil, hook.Invalid(hook.FieldError{Field: "signature_profiles", Message: "must be JSON of profiles by name: " + err.Error()})
	}
	taken := sign.Known(nil)
	taken[hook.ProfileStandard] = hook.SignatureProfile{Signed: sign.StandardSigned}
	var wrong hook.Fields
	for _, name := range slices.Sorted(maps.Keys(own)) {
		p := own[name]
		p.Name = name
		faults, _ := p.Check(name)
		_, is := taken[name]
		faults.Refuse(is, name, "is a profile of Surehook")
		wrong, own[name] = slices.Concat(wrong, faults, mixed(p, taken), mixed(p, own)), p
	}
	if len(wrong) > 0 {
		return nil, hook.Invalid(wrong...)
	}
	return own, nil
}

// mixed returns an error for the first other profile that is not separate from the profile.
func mixed(p hook.SignatureProfile, others map[string]hook.SignatureProfile) hook.Fields {
	for _, name := range slices.Sorted(maps.Keys(others)) {
		other := others[name]
		other.Name = name
		if name != p.Name && !Separate(p, other) {
			return hook.Fields{{Field: p.Name + ".signed", Message: fmt.Sprintf(
				"one text can fit this template and %s of the profile %s: the signature of the one would verify as the other", other.Signed, name)}}
		}
	}
	return nil
}
