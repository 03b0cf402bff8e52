package hook

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// SignatureProfile says what is signed, how, and which headers carry the signature. Surehook's
// own profiles have only a name, see package sign. A profile defined by the deployment is
// copied into each endpoint that is saved with it, because receivers rely on it.
type SignatureProfile struct {
	Name      string            `json:"-" stored:"name"`
	Signed    string            `json:"signed" stored:"signed"`                 // template of the signed text
	Algorithm string            `json:"algorithm" stored:"algorithm"`           // of the HMAC: sha256, sha512 or sha1
	Encoding  string            `json:"encoding" stored:"encoding"`             // of a signature: hex or base64
	Key       string            `json:"key" stored:"key"`                       // text: the text of the secret is the key; decoded: the bytes that it encodes
	Prefix    string            `json:"prefix,omitzero" stored:"prefix"`        // before each signature, such as "v1="
	Separator string            `json:"separator,omitempty" stored:"separator"` // between the signatures of several secrets; empty: only the oldest active secret signs
	Headers   map[string]string `json:"headers" stored:"headers"`               // templates of the values, by name
}

// The profiles with a meaning beyond their definition.
const (
	ProfileStandard = "standard" // Standard Webhooks, the only one for v1a
	ProfileClassic  = "classic"
	ProfileSvix     = "svix"
)

// Bounds of signature profiles, also listed in docs/limits.md.
const (
	MaxProfiles       = 2 // of an endpoint: the new one and the old one during a migration
	maxProfileName    = 64
	maxProfileText    = 256 // of a template
	maxProfilePart    = 32  // of prefix and separator
	maxProfileHeaders = 10
)

var (
	profileName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)
	placeholder = regexp.MustCompile(`\{[^{}]*\}`)
	visible     = regexp.MustCompile(`^[\x20-\x7e]*$`)
	separator   = regexp.MustCompile(`^[\x20-\x7a|~]*[^\w+/={}\x00-\x1f\x7f-\x{10ffff}][\x20-\x7a|~]*$`)
	part        = regexp.MustCompile(`^([\x21-\x7a|~]([\x20-\x7a|~]*[\x21-\x7a|~])?)?$`) // no braces, and no space at either end
	joined      = regexp.MustCompile(`\}\w*\{`)                                          // ids and times consist of such characters
)

// Placeholders of templates. The URL is that of the endpoint, even after a redirect.
const (
	PlaceID          = "{id}"
	PlaceTimestamp   = "{timestamp}" // of the attempt, in seconds since 1970
	PlaceBody        = "{body}"
	PlaceURL         = "{url}"
	PlaceMethod      = "{method}"
	PlaceType        = "{type}"
	PlaceDelivery    = "{delivery}"
	PlaceIdempotency = "{idempotency_key}" // the event's idempotency key, or else its id
	PlaceSignature   = "{signature}"
)

// Own reports whether the deployment defines the profile.
func (p SignatureProfile) Own() bool { return p.Signed != "" }

// SignsText reports whether the profile also signs bodies that are neither a JSON object nor a JSON
// list. The signed text of these profiles begins with an id and a time of Surehook's, so a text of
// the customer's choice cannot pass for the signed text of another profile. A body such as
// "evt_1.1795000000.{}" under a profile that signs the body first could.
func (p SignatureProfile) SignsText() bool { return p.Name == ProfileStandard || p.Name == ProfileSvix }

// Check returns the wrong fields of a definition, as paths below field, and warnings about weak
// choices. MD5 is deliberately missing from the algorithms: a receiver that needs it should
// change.
func (p SignatureProfile) Check(field string) (wrong Fields, warnings []string) {
	wrong.Refuse(!profileName.MatchString(p.Name), field, "names must be 1 to %d of a-z 0-9 -", maxProfileName)
	wrong.Refuse(len(p.Signed) > maxProfileText || strings.Count(p.Signed, PlaceBody) != 1,
		field+".signed", "must be a template of at most %d bytes that contains {body} once", maxProfileText)
	checkPlaces(&wrong, field+".signed", p.Signed, PlaceID, PlaceTimestamp, PlaceBody, PlaceURL, PlaceMethod)
	choice := func(name, value string, choices ...string) {
		wrong.Refuse(!slices.Contains(choices, value), field+name, "must be one of %s", strings.Join(choices, ", "))
	}
	choice(".algorithm", p.Algorithm, "sha256", "sha512", "sha1")
	choice(".encoding", p.Encoding, "hex", "base64")
	choice(".key", p.Key, "text", "decoded")
	wrong.Refuse(len(p.Prefix) > maxProfilePart || !part.MatchString(p.Prefix),
		field+".prefix", "must be at most %d visible ASCII characters without { and }, and without a space at an edge", maxProfilePart)
	wrong.Refuse(p.Separator != "" && (len(p.Separator) > maxProfilePart || !separator.MatchString(p.Separator)),
		field+".separator", "must be at most %d visible ASCII characters without { and }, at least one of them not in A-Z a-z 0-9 + / =", maxProfilePart)
	p.checkHeaders(&wrong, field+".headers")
	if p.Algorithm == "sha1" {
		warnings = append(warnings, "SHA-1 is weak: use it only for receivers that support nothing else")
	}
	if !strings.Contains(p.Signed, PlaceTimestamp) {
		warnings = append(warnings, "The time is not signed: the receiver cannot recognise an old request that somebody sends again")
	}
	if joined.MatchString(p.Signed) {
		warnings = append(warnings, "Two values are signed without a separator that neither can contain: one signature fits several pairs of values")
	}
	return wrong, warnings
}

// checkHeaders checks that a receiver can verify the signature from the headers.
func (p SignatureProfile) checkHeaders(wrong *Fields, field string) {
	wrong.Refuse(len(p.Headers) == 0 || len(p.Headers) > maxProfileHeaders, field, "must have 1 to %d entries", maxProfileHeaders)
	var all strings.Builder
	seen := make(map[string]bool)
	for _, name := range slices.Sorted(maps.Keys(p.Headers)) {
		value, lower := p.Headers[name], HeaderName(name)
		switch {
		case !headerName.MatchString(name) || seen[lower]:
			wrong.Add(field, "names must be different, and 1 to %d characters of an HTTP token", MaxHeaderName)
		case ReservedHeader(name) && !signatureHeader(lower), lower == "authorization":
			wrong.Add(field+"."+name, "is set by Surehook, HTTP or proxies")
		case value == "" || len(value) > maxProfileText || !visible.MatchString(value) || strings.TrimSpace(value) != value:
			wrong.Add(field+"."+name, "must be 1 to %d visible ASCII characters without a space at an edge", maxProfileText)
		}
		seen[lower] = true
		checkPlaces(wrong, field+"."+name, value, PlaceID, PlaceTimestamp, PlaceType, PlaceDelivery, PlaceIdempotency, PlaceSignature)
		all.WriteString(value)
	}
	wrong.Refuse(strings.Count(all.String(), PlaceSignature) != 1, field, "must have {signature} once")
	for _, place := range []string{PlaceID, PlaceTimestamp} {
		wrong.Refuse(strings.Contains(p.Signed, place) && !strings.Contains(all.String(), place),
			field, "must have %s: it is signed, and the receiver needs it", place)
	}
}

// signatureHeader reports whether a reserved name, in lower case, may carry signatures.
func signatureHeader(name string) bool {
	switch name {
	case "x-event-id", "x-idempotency-key":
		return true
	case "x-webhook-event", "x-webhook-delivery", "x-webhook-attempt": // in every request
		return false
	}
	return slices.ContainsFunc([]string{"webhook-", "x-webhook-", "svix-"}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// checkPlaces refuses unknown placeholders.
func checkPlaces(wrong *Fields, field, template string, known ...string) {
	for _, place := range placeholder.FindAllString(template, -1) {
		wrong.Refuse(!slices.Contains(known, place), field, "%s is not one of %s", place, strings.Join(known, ", "))
	}
}

// validateProfiles checks the names and the combination of an endpoint's profiles. Package sign
// checks their headers.
func validateProfiles(e Endpoint) []FieldError {
	const field, schemes = "signature_profiles", "signature_schemes"
	names := make([]string, len(e.Profiles))
	for i, p := range e.Profiles {
		names[i] = p.Name
	}
	var errs Fields
	errs.Refuse(len(names) == 0 || len(names) > MaxProfiles, field, "must name 1 to %d profiles", MaxProfiles)
	errs.Refuse(len(names) > 1 && names[0] == names[1], field, "must not name a profile twice")
	standard := slices.Contains(names, ProfileStandard)
	other := slices.ContainsFunc(names, func(name string) bool { return name != ProfileStandard })
	switch {
	case len(e.Schemes) == 0:
		errs.Add(schemes, "must name v1, v1a or both")
	case slices.Contains(e.Schemes, SchemeV1a) && !standard:
		errs.Add(schemes, "must be v1 alone: only the profile standard carries v1a")
	case !slices.Contains(e.Schemes, SchemeV1) && other:
		errs.Add(schemes, "must name v1: only the profile standard carries v1a")
	}
	return errs
}

// ProfilesNamed returns the profiles of Surehook with the names.
func ProfilesNamed(names ...string) []SignatureProfile {
	profiles := make([]SignatureProfile, len(names))
	for i, name := range names {
		profiles[i].Name = name
	}
	return profiles
}
