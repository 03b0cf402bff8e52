package endpoint

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/destination"
	"surehook.example/surehook/internal/rule/filter"
	"surehook.example/surehook/internal/rule/retry"
	"surehook.example/surehook/internal/rule/shape"
	"surehook.example/surehook/internal/rule/sign"
)

// Fields holds the settings of an endpoint given by a caller, with their names in the API. Create
// replaces a nil field with the default; Change keeps the stored value. Metadata and lists are
// replaced as a whole. Of the headers Change sets the given names, removes names
// with an empty text, and keeps all others.
type Fields struct {
	UID            *string            `json:"uid"`
	URL            *string            `json:"url"`
	Description    *string            `json:"description"`
	EventTypes     *[]string          `json:"event_types"`
	Filter         *[]byte            `json:"filter"` // empty: none
	Metadata       *map[string]string `json:"metadata"`
	Headers        *map[string]string `json:"headers"`
	Auth           *hook.Auth         `json:"auth"`         // with the secret in clear
	TLS            *hook.Material     `json:"tls,omitzero"` // with the key in clear; zero: none
	Retry          *hook.RetryPolicy  `json:"retry"`
	RetryOn        *[]int             `json:"retry_on"`
	GiveUpOn       *[]int             `json:"give_up_on"`
	Timeout        *time.Duration     `json:"timeout"`
	MaxAge         *time.Duration     `json:"max_age"`
	MaxRetryAfter  *time.Duration     `json:"max_retry_after"` // 0: the default
	RatePerSecond  *float64           `json:"rate_per_second"` // 0: no limit
	MaxInFlight    *int               `json:"max_in_flight"`   // 0: no limit
	Shards         *int               `json:"shards"`          // of the deliveries of later events
	Circuit        CircuitFields      `json:"circuit"`
	Coalesce       *hook.Coalescing   `json:"coalesce,omitzero"` // zero: a request per event
	Ordered        *bool              `json:"ordered"`
	OnFailure      *hook.OnFailure    `json:"on_failure"`
	AutoDisable    *bool              `json:"auto_disable"`
	RecordHeaders  *bool              `json:"record_headers"`
	Profiles       *[]string          `json:"signature_profiles"` // names
	Schemes        *[]hook.Scheme     `json:"signature_schemes"`
	Region         *string            `json:"region"`
	Egress         *hook.Egress       `json:"egress"`
	Destination    *hook.Destination  `json:"destination,omitzero"` // without the external id
	Envelope       *hook.Envelope     `json:"envelope"`
	Transformation *string            `json:"transformation"` // empty: none
	Wrong          []hook.FieldError  `json:"-"`              // fields of a wrong form, and nil above: reported with the other wrong fields
}

// CircuitFields holds the settings of an endpoint's circuit. Zero means the default.
type CircuitFields struct {
	Failures    *int           `json:"failures"`
	Rate        *float64       `json:"rate"`
	Minimum     *int           `json:"minimum"`
	Cooldown    *time.Duration `json:"cooldown"`
	MaxCooldown *time.Duration `json:"max_cooldown"`
}

// apply sets the given fields of e: those that have the name and the type of a field of e by
// themselves.
func (f Fields) apply(e *hook.Endpoint) {
	stored := *e
	setGiven(reflect.ValueOf(e).Elem(), reflect.ValueOf(f))
	e.URL = strings.TrimSpace(e.URL) // pasting adds white space
	e.Headers, e.Auth = stored.Headers, stored.Auth
	f.applyOrigin(e, stored)
	f.applyHeaders(e)
	f.applyAuth(e)
	*e = e.Sharded(e.Shards)
	e.ShardsEver = max(e.ShardsEver, stored.Shards)
	if e.Destination.ExternalID = stored.Destination.ExternalID; e.Destination.ExternalID == "" && e.Destination.On() {
		e.Destination.ExternalID = rand.Text()
	}
}

// setGiven sets the fields of a struct to the values of the pointers of the same name in given.
func setGiven(to, given reflect.Value) {
	for i := range given.NumField() {
		field, pointer := to.FieldByName(given.Type().Field(i).Name), given.Field(i)
		switch {
		case pointer.Kind() == reflect.Struct:
			setGiven(field, pointer)
		case field.IsValid() && !pointer.IsNil() && pointer.Elem().Kind() == field.Kind() && pointer.Elem().CanConvert(field.Type()):
			field.Set(pointer.Elem().Convert(field.Type()))
		}
	}
}

// apply sets the given fields of e, and returns the wrong fields of the result.
func (a *Admin) apply(ctx context.Context, f Fields, e *hook.Endpoint) (hook.Fields, error) {
	before := e.Transformation
	f.apply(e)
	if a.PresetsOnly && e.Transformation != before && e.Transformation != "" && !shape.Preset(e.Transformation) {
		return nil, &hook.Error{Code: hook.CodeForbidden, Message: "a transformation that is no preset needs the scope " + string(hook.ScopeTransformations)}
	}
	if err := a.permit(*e); err != nil {
		return nil, err
	}
	wrongProfiles := a.applyProfiles(f.Profiles, e)
	wrongTLS, err := a.applyTLS(ctx, f, e)
	if err != nil {
		return nil, err
	}
	wrongShape, err := a.checkTransformation(ctx, f, *e)
	if err != nil {
		return nil, err
	}
	var wrongRegion hook.Fields
	wrongRegion.Refuse(f.Region != nil && *f.Region == hook.PrivateRegion && e.Private(), "region", "must be empty with egress private")
	return slices.Concat(wrongTLS, wrongShape, wrongProfiles, wrongRegion, f.checkNames(), a.check(*e)), nil
}

// check returns the invalid fields of an endpoint before a write.
func (a *Admin) check(e hook.Endpoint) hook.Fields {
	errs := slices.Concat(hook.Fields(hook.ValidateEndpoint(e)), sign.CheckProfiles(&e), retry.Validate(e.Retry), destination.Validate(&e), destination.Check(a.Destinations, &e), a.Origins.check(e))
	if len(e.Filter) > 0 {
		_, wrong := filter.Parse(e.Filter, "filter")
		errs = append(errs, wrong...)
	}
	if e.URL != "" && !e.Destination.On() && !hasField(errs, "egress") { // ValidateEndpoint reports an empty URL
		message := a.policyOf(e).CheckURL(e.URL)
		errs.Refuse(message != "" && !hasField(errs, "url"), "url", "%s", message)
	}
	for i, s := range e.Schemes {
		errs.Refuse(slices.Contains(e.Schemes[:i], s), fmt.Sprintf("signature_schemes[%d]", i), "is named twice")
	}
	return slices.Concat(errs, a.checkAuth(e), checkHeaders(e))
}

func hasField(errs []hook.FieldError, field string) bool {
	return slices.ContainsFunc(errs, func(e hook.FieldError) bool { return e.Field == field })
}

// SignatureProfiles returns the profiles that endpoints may name, Surehook's and the
// deployment's.
func (a *Admin) SignatureProfiles() map[string]hook.SignatureProfile {
	return sign.Known(a.Profiles)
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
