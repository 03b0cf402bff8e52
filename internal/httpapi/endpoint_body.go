package httpapi

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/retry"
)

// settings are the settings of an endpoint, in requests and in responses. Absent fields are nil.
// A field with the name and the form of one of package endpoint and of hook.Endpoint is copied by
// transfer; fields and viewEndpoint translate the others.
type settings struct {
	UID            *string            `json:"uid"`
	URL            *string            `json:"url"`
	Description    *string            `json:"description"`
	EventTypes     *[]string          `json:"event_types"`
	Filter         jsontext.Value     `json:"filter"`
	Metadata       *map[string]string `json:"metadata"`
	Headers        *map[string]string `json:"headers"`
	Auth           *authBody          `json:"auth"`
	TLS            *tlsBody           `json:"tls,omitzero"`
	Retry          *retryBody         `json:"retry"`
	RetryOn        *[]int             `json:"retry_on"`
	GiveUpOn       *[]int             `json:"give_up_on"`
	Timeout        *duration          `json:"timeout"`
	MaxAge         *duration          `json:"max_age"`
	MaxRetryAfter  *duration          `json:"max_retry_after"`
	RatePerSecond  *float64           `json:"rate_per_second"`
	MaxInFlight    *int               `json:"max_in_flight"`
	Shards         *int               `json:"shards"`
	Circuit        circuitBody        `json:"circuit"`
	Coalesce       *coalesceBody      `json:"coalesce,omitzero"`
	AutoDisable    *bool              `json:"auto_disable"`
	Profiles       *[]string          `json:"signature_profiles"`
	Schemes        *[]string          `json:"signature_schemes"`
	Region         *string            `json:"region"`
	Egress         *string            `json:"egress"`
	Destination    map[string]string  `json:"destination,omitzero"`
	Envelope       *string            `json:"envelope"`
	Transformation *string            `json:"transformation"`
}

// createBody adds the fields allowed only at creation.
type createBody struct {
	settings
	Secret *string `json:"secret"`
}

type retryBody struct {
	Preset      *string          `json:"preset,omitzero"`
	Schedule    *[]duration      `json:"schedule,omitzero"`
	Exponential *exponentialBody `json:"exponential,omitzero"`
	Jitter      *string          `json:"jitter,omitzero"`
}

// circuitBody holds the settings of a circuit. Absent fields are nil.
type circuitBody struct {
	Failures    *int      `json:"failures"`
	Rate        *float64  `json:"rate"`
	Minimum     *int      `json:"minimum"`
	Cooldown    *duration `json:"cooldown"`
	MaxCooldown *duration `json:"max_cooldown"`
}

// coalesceBody replaces the settings as a whole.
type coalesceBody struct {
	Window    *duration `json:"window"`
	MaxEvents *int      `json:"max_events"`
	MaxBytes  *int      `json:"max_bytes"`
}

// exponentialBody is the same in requests and responses, but only in a request a field can be
// absent.
type exponentialBody struct {
	Base     *duration `json:"base"`
	Factor   *float64  `json:"factor"`
	Cap      *duration `json:"cap"`
	Attempts *int      `json:"attempts"`
}

// fields translates the body and checks the names of enumerated values. Package endpoint checks
// the bounds. errs are the malformed fields.
func (b settings) fields(errs fieldErrors) endpoint.Fields {
	var f endpoint.Fields
	transfer(reflect.ValueOf(&f).Elem(), reflect.ValueOf(b))
	f.Filter = filterOf(b.Filter)
	if b.Auth != nil {
		auth, wrong := b.Auth.auth()
		if errs = hook.AlsoWrong(errs, wrong); len(wrong) == 0 {
			f.Auth = &auth
		}
	}
	if b.TLS != nil {
		f.TLS = new(b.TLS.material())
	}
	if b.Coalesce != nil {
		coalescing, wrong := b.Coalesce.settings()
		f.Coalesce, errs = &coalescing, hook.AlsoWrong(errs, wrong)
	}
	if b.Retry != nil {
		policy, wrong := b.Retry.policy()
		f.Retry, errs = &policy, hook.AlsoWrong(errs, wrong)
	}
	if b.Schemes != nil {
		schemes := make([]hook.Scheme, len(*b.Schemes))
		for i, name := range *b.Schemes {
			scheme, wrong := choose(fmt.Sprintf("signature_schemes[%d]", i), name, hook.SchemeV1, hook.SchemeV1a)
			schemes[i], errs = scheme, hook.AlsoWrong(errs, wrong)
		}
		f.Schemes = &schemes
	}
	if b.Egress != nil {
		chosen, wrong := choose("egress", *b.Egress, egressShared, egressFixed)
		if errs = append(errs, wrong...); len(wrong) == 0 {
			f.Fixed = new(chosen == egressFixed)
		}
	}
	envelope, wrong := envelopeOf(b.Envelope)
	f.Envelope, errs = envelope, append(errs, wrong...)
	if b.Destination != nil {
		to, wrong := destinationOf(b.Destination)
		if errs = hook.AlsoWrong(errs, wrong); len(wrong) == 0 {
			f.Destination = &to
		}
	}
	f.Wrong = errs
	return f
}

// envelopeOf returns the given envelope; nil if it is absent or wrong.
func envelopeOf(name *string) (*hook.Envelope, []hook.FieldError) {
	if name == nil {
		return nil, nil
	}
	envelope, wrong := choose("envelope", *name, hook.EnvelopeRaw, hook.EnvelopeStandard, hook.EnvelopeThin)
	if len(wrong) > 0 {
		return nil, wrong
	}
	return &envelope, nil
}

// settings returns the settings. A window of 0 means one request per event.
func (b coalesceBody) settings() (c hook.Coalescing, wrong []hook.FieldError) {
	if b.Window == nil {
		return c, []hook.FieldError{{Field: "coalesce.window", Message: "is missing"}}
	}
	if *b.Window == 0 {
		return c, nil
	}
	set((*duration)(&c.Window), b.Window)
	c = c.WithDefaults()
	set(&c.MaxEvents, b.MaxEvents)
	set(&c.MaxBytes, b.MaxBytes)
	return c, nil
}

func (b retryBody) policy() (hook.RetryPolicy, []hook.FieldError) {
	var (
		p    hook.RetryPolicy
		errs []hook.FieldError
	)
	if given := countTrue(b.Preset != nil, b.Schedule != nil, b.Exponential != nil); given != 1 {
		return p, []hook.FieldError{{Field: "retry", Message: "must have exactly one of preset, schedule and exponential"}}
	}
	switch {
	case b.Preset != nil:
		if p.Preset = *b.Preset; p.Preset == "" {
			errs = append(errs, hook.FieldError{Field: "retry.preset", Message: "must be one of " + strings.Join(retry.Presets(), ", ")})
		}
	case b.Schedule != nil:
		p.Schedule = make([]time.Duration, len(*b.Schedule))
		for i, d := range *b.Schedule {
			p.Schedule[i] = time.Duration(d)
		}
	case b.Exponential != nil:
		p.Exponential, errs = b.Exponential.delays()
	}
	if b.Preset == nil {
		p.Jitter = hook.JitterFull
	}
	if b.Jitter != nil {
		jitter, wrong := choose("retry.jitter", *b.Jitter, hook.JitterFull, hook.JitterEqual, hook.JitterProportional, hook.JitterNone)
		p.Jitter, errs = jitter, append(errs, wrong...)
	}
	return p, errs
}

// delays returns the delays. All fields are required.
func (b exponentialBody) delays() (hook.Exponential, []hook.FieldError) {
	var wrong []hook.FieldError
	require := func(name string, given bool) {
		if !given {
			wrong = append(wrong, hook.FieldError{Field: "retry.exponential." + name, Message: "is missing"})
		}
	}
	require("base", b.Base != nil)
	require("factor", b.Factor != nil)
	require("cap", b.Cap != nil)
	require("attempts", b.Attempts != nil)
	var e hook.Exponential
	set((*duration)(&e.Base), b.Base)
	set(&e.Factor, b.Factor)
	set((*duration)(&e.Cap), b.Cap)
	set(&e.Attempts, b.Attempts)
	if e == (hook.Exponential{}) { // the zero value would mean that there is no exponential
		e.Attempts = 1
	}
	return e, wrong
}

// transfer sets the fields of a struct to those of the same name and kind of another. A pointer is
// set to a value, too.
func transfer(to, from reflect.Value) {
	for i := range to.NumField() {
		field, value := to.Field(i), from.FieldByName(to.Type().Field(i).Name)
		if !value.IsValid() {
			continue
		}
		switch kind := field.Kind(); {
		case kind == value.Kind() && value.CanConvert(field.Type()):
			field.Set(value.Convert(field.Type()))
		case kind == reflect.Struct && value.Kind() == kind:
			transfer(field, value)
		case kind == reflect.Pointer && field.Type().Elem().Kind() == value.Kind() && value.CanConvert(field.Type().Elem()):
			field.Set(reflect.New(field.Type().Elem()))
			field.Elem().Set(value.Convert(field.Type().Elem()))
		}
	}
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// choose returns the value among all that has the name.
func choose[T fmt.Stringer](field, name string, all ...T) (T, []hook.FieldError) {
	words := make([]string, len(all))
	for i, t := range all {
		if t.String() == name {
			return t, nil
		}
		words[i] = t.String()
	}
	var none T
	return none, []hook.FieldError{{Field: field, Message: "must be one of " + strings.Join(words, ", ")}}
}

func countTrue(conditions ...bool) int {
	n := 0
	for _, c := range conditions {
		if c {
			n++
		}
	}
	return n
}
