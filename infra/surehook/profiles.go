package surehook

import (
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/profiles"
	"surehook.example/surehook/internal/rule/sign"
)

// checkProfiles checks the definitions, and that the profiles of new endpoints exist.
func (e Environment) checkProfiles(f *faults) {
	text := e.SignatureProfiles
	f.add(len(text) > maxSetting, "the signature profiles have %d bytes, and %d is the most", len(text), maxSetting)
	own, err := profiles.Parse([]byte(text))
	f.add(err != nil, "signature profiles: %v", err)
	known := sign.Known(own)
	f.add(len(e.Signatures) > hook.MaxProfiles, "new endpoints have %d signature profiles, and %d is the most", len(e.Signatures), hook.MaxProfiles)
	named := make([]hook.SignatureProfile, len(e.Signatures))
	for i, name := range e.Signatures {
		p, ok := known[name]
		f.add(!ok, "signature profile %q is unknown", name)
		p.Name = name
		named[i] = p
	}
	for _, wrong := range sign.CheckProfiles(&hook.Endpoint{Profiles: named}) {
		f.add(true, "%s", wrong.Message)
	}
}
