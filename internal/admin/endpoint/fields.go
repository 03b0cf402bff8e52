package endpoint

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/filter"
	"surehook.example/surehook/internal/rule/retry"
	"surehook.example/surehook/internal/rule/shape"
	"surehook.example/surehook/internal/rule/sign"
)

// Fields holds the settings of an endpoint given by a caller. Create replaces a
// nil field with the default; Change keeps the stored value. Metadata and lists are
// replaced as a whole. Of the headers Change sets the given names, removes names
// with an empty text, and keeps all others.
type Fields struct {
	UID            *string
	URL            *string
	Description    *string
	EventTypes     *[]string
	Filter         *[]byte // empty: none
	Metadata       *map[string]string
	Headers        *map[string]string
	Auth           *hook.Auth     // with the secret in clear
	TLS            *hook.Material // with the key in clear; zero: none
	Retry          *hook.RetryPolicy
	RetryOn        *[]int
	GiveUpOn       *[]int
	Timeout        *time.Duration
	MaxAge         *time.Duration
	MaxRetryAfter  *time.Duration // 0: the default
	RatePerSecond  *float64       // 0: no limit
	MaxInFlight    *int           // 0: no limit
	Shards         *int           // of the deliveries of later events
	Circuit        CircuitFields
	Coalesce       *hook.Coalescing // zero: a request per event
	AutoDisable    *bool
	Profiles       *[]string // names
	Schemes        *[]hook.Scheme
	Region         *string
	Fixed          *bool
	Destination    *hook.Destination // without the external id
	Envelope       *hook.Envelope
	Transformation *string           // empty: none
	Wrong          []hook.FieldError // fields of a wrong form, and nil above: reported with the other wrong fields
}

// CircuitFields holds the settings of an endpoint's circuit. Zero means the default.
type CircuitFields struct {
	Failures    *int
	Rate        *float64
	Minimum     *int
	Cooldown    *time.Duration
	MaxCooldown *time.Duration
}

// apply sets the given fields of e.
func (f Fields) apply(e *hook.Endpoint) {
	set(&e.UID, f.UID)
	setURL(&e.URL, f.URL)
	set(&e.Description, f.Description)
	set(&e.EventTypes, f.EventTypes)
	set(&e.Filter, f.Filter)
	set(&e.Metadata, f.Metadata)
	f.applyHeaders(e)
	f.applyAuth(e)
	set(&e.Retry, f.Retry)
	set(&e.RetryOn, f.RetryOn)
	set(&e.GiveUpOn, f.GiveUpOn)
	set(&e.Timeout, f.Timeout)
	set(&e.MaxAge, f.MaxAge)
	set(&e.MaxRetryAfter, f.MaxRetryAfter)
	set(&e.RatePerSecond, f.RatePerSecond)
	set(&e.MaxInFlight, f.MaxInFlight)
	if f.Shards != nil {
		*e = e.Sharded(*f.Shards)
	}
	set(&e.Circuit.Failures, f.Circuit.Failures)
	set(&e.Circuit.Rate, f.Circuit.Rate)
	set(&e.Circuit.Minimum, f.Circuit.Minimum)
	set(&e.Circuit.Cooldown, f.Circuit.Cooldown)
	set(&e.Circuit.MaxCooldown, f.Circuit.MaxCooldown)
	set(&e.Coalesce, f.Coalesce)
	set(&e.AutoDisable, f.AutoDisable)
	set(&e.Schemes, f.Schemes)
	set(&e.Region, f.Region)
	set(&e.Fixed, f.Fixed)
	set(&e.Envelope, f.Envelope)
	set(&e.Transformation, f.Transformation)
	id := e.Destination.ExternalID // the external id stays
	set(&e.Destination, f.Destination)
	if e.Destination.ExternalID = id; id == "" && e.Destination.On() {
		e.Destination.ExternalID = rand.Text()
	}
}

// apply sets the given fields of e, and returns the wrong fields of the result.
func (a *Admin) apply(ctx context.Context, f Fields, e *hook.Endpoint) ([]hook.FieldError, error) {
	before := e.Transformation
	f.apply(e)
	if a.PresetsOnly && e.Transformation != before && e.Transformation != "" && !shape.Preset(e.Transformation) {
		return nil, &hook.Error{Code: hook.CodeForbidden, Message: "a transformation that is no preset needs the scope " + string(hook.ScopeTransformations)}
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
	return slices.Concat(wrongTLS, wrongShape, wrongProfiles, f.checkNames(), a.check(*e)), nil
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// setURL sets a URL without the white space that pasting adds around it.
func setURL(to, from *string) {
	if from != nil {
		*to = strings.TrimSpace(*from)
	}
}

// check returns the invalid fields of an endpoint before a write.
func (a *Admin) check(e hook.Endpoint) []hook.FieldError {
	errs := append(hook.ValidateEndpoint(e), sign.CheckProfiles(&e)...)
	errs = append(errs, retry.Validate(e.Retry)...)
	if len(e.Filter) > 0 {
		_, wrong := filter.Parse(e.Filter, "filter")
		errs = append(errs, wrong...)
	}
	if e.URL != "" && !e.Destination.On() { // ValidateEndpoint reports an empty URL, and checks the address of a destination
		if message := a.Policy.CheckURL(e.URL); message != "" && !hasField(errs, "url") {
			errs = append(errs, hook.FieldError{Field: "url", Message: message})
		}
	}
	for i, s := range e.Schemes {
		if slices.Contains(e.Schemes[:i], s) {
			errs = append(errs, hook.FieldError{Field: fmt.Sprintf("signature_schemes[%d]", i), Message: "is named twice"})
		}
	}
	errs = append(errs, a.Origins.check(e)...)
	errs = append(errs, a.Destinations.Check(&e)...)
	errs = append(errs, a.checkAuth(e)...)
	return append(errs, checkHeaders(e)...)
}

func hasField(errs []hook.FieldError, field string) bool {
	return slices.ContainsFunc(errs, func(e hook.FieldError) bool { return e.Field == field })
}
