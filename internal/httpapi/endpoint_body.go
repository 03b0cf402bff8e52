package httpapi

import (
	"maps"
	"slices"
	"strings"
	"time"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/destination"
	"surehook.example/surehook/internal/rule/retry"
)

// createBody adds the fields allowed only at creation.
type createBody struct {
	endpoint.Fields
	Secret *secret `json:"secret"`
}

// retryBody, exponentialBody and coalesceBody are settings in a request. Absent fields are nil.
type retryBody struct {
	Preset      *string          `json:"preset"`
	Schedule    *[]time.Duration `json:"schedule"`
	Exponential *exponentialBody `json:"exponential"`
	Jitter      *hook.Jitter     `json:"jitter"`
}

// coalesceBody replaces the settings as a whole.
type coalesceBody struct {
	Window    *time.Duration `json:"window"`
	MaxEvents *int           `json:"max_events"`
	MaxBytes  *int           `json:"max_bytes"`
}

type exponentialBody struct {
	Base     *time.Duration `json:"base"`
	Factor   *float64       `json:"factor"`
	Cap      *time.Duration `json:"cap"`
	Attempts *int           `json:"attempts"`
}

// settings returns the settings. A window of 0 means one request per event.
func (b coalesceBody) settings() (c *hook.Coalescing, wrong hook.Fields) {
	c = new(hook.Coalescing)
	if b.Window == nil {
		wrong.Add("coalesce.window", "is missing")
		return c, wrong
	}
	if *b.Window == 0 {
		return c, nil
	}
	set(&c.Window, b.Window)
	*c = c.WithDefaults()
	set(&c.MaxEvents, b.MaxEvents)
	set(&c.MaxBytes, b.MaxBytes)
	return c, nil
}

func (b retryBody) policy() (p *hook.RetryPolicy, errs hook.Fields) {
	p = new(hook.RetryPolicy)
	forms := 0
	for _, given := range []bool{b.Preset != nil, b.Schedule != nil, b.Exponential != nil} {
		if given {
			forms++
		}
	}
	switch {
	case forms != 1:
		errs.Add("retry", "must have exactly one of preset, schedule and exponential")
		return p, errs
	case b.Preset != nil && *b.Preset == "":
		errs.Add("retry.preset", "must be one of %s", strings.Join(retry.Presets(), ", "))
	case b.Exponential != nil:
		p.Exponential, errs = b.Exponential.delays()
	}
	set(&p.Preset, b.Preset)
	set(&p.Schedule, b.Schedule)
	if b.Preset == nil {
		p.Jitter = hook.JitterFull
	}
	set(&p.Jitter, b.Jitter)
	return p, errs
}

// delays returns the delays. All fields are required.
func (b exponentialBody) delays() (e hook.Exponential, wrong hook.Fields) {
	require(&wrong, "retry.exponential.base", &e.Base, b.Base)
	require(&wrong, "retry.exponential.factor", &e.Factor, b.Factor)
	require(&wrong, "retry.exponential.cap", &e.Cap, b.Cap)
	require(&wrong, "retry.exponential.attempts", &e.Attempts, b.Attempts)
	if e == (hook.Exponential{}) { // the zero value would mean that there is no exponential
		e.Attempts = 1
	}
	return e, wrong
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// require is set for a field that must be given.
func require[T any](wrong *hook.Fields, field string, to, from *T) {
	wrong.Refuse(from == nil, field, "is missing")
	set(to, from)
}

// authBody is the authentication at the receiver. Absent fields are nil.
type authBody struct {
	Type     *hook.AuthType `json:"type"`
	Username *string        `json:"username,omitzero"`
	Password *string        `json:"password,omitzero"`
	Token    *string        `json:"token,omitzero"`

	TokenURL     *string     `json:"token_url,omitzero"`
	ClientID     *string     `json:"client_id,omitzero"`
	ClientSecret *string     `json:"client_secret,omitzero"`
	Scope        *string     `json:"scope,omitzero"`
	Audience     *string     `json:"audience,omitzero"`
	ClientAuth   *clientAuth `json:"client_auth,omitzero"`
}

// clientAuth says where a request for a token carries the client's id and secret: true is its body.
type clientAuth bool

// String returns the place as it appears in the API.
func (c clientAuth) String() string {
	if c {
		return "body"
	}
	return "basic"
}

// auth translates the body. Package hook checks the bounds.
func (b authBody) auth() (a *hook.Auth, errs hook.Fields) {
	if b.Type == nil {
		errs.Add("auth.type", "is missing")
		return nil, errs
	}
	t := *b.Type
	a = &hook.Auth{Type: t}
	for _, field := range []struct {
		name  string
		of    hook.AuthType
		given *string
		to    *string
	}{
		{"auth.username", hook.AuthBasic, b.Username, &a.Username},
		{"auth.password", hook.AuthBasic, b.Password, &a.Secret},
		{"auth.token", hook.AuthBearer, b.Token, &a.Secret},
		{"auth.token_url", hook.AuthOAuth2, b.TokenURL, &a.OAuth.TokenURL},
		{"auth.client_id", hook.AuthOAuth2, b.ClientID, &a.OAuth.ClientID},
		{"auth.client_secret", hook.AuthOAuth2, b.ClientSecret, &a.Secret},
		{"auth.scope", hook.AuthOAuth2, b.Scope, &a.OAuth.Scope},
		{"auth.audience", hook.AuthOAuth2, b.Audience, &a.OAuth.Audience},
	} {
		switch {
		case field.given == nil:
		case field.of != t:
			errs.Add(field.name, "is for the type %s only", field.of)
		default:
			*field.to = *field.given
		}
	}
	if b.ClientAuth != nil {
		a.OAuth.InBody = bool(*b.ClientAuth)
		errs.Refuse(t != hook.AuthOAuth2, "auth.client_auth", "is for the type %s only", hook.AuthOAuth2)
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return a, nil
}

// viewAuth returns the authentication, with a mask in place of the secret.
func viewAuth(a hook.Auth) *authBody {
	secret := orNil(a.Secret)
	if a.Secret != hook.Masked && a.Secret != newValue {
		secret = orNil(mask(a.Secret))
	}
	view := &authBody{Type: &a.Type}
	switch a.Type {
	case hook.AuthBasic:
		view.Username, view.Password = &a.Username, secret
	case hook.AuthBearer:
		view.Token = secret
	case hook.AuthOAuth2:
		view.TokenURL, view.ClientID, view.ClientSecret = &a.OAuth.TokenURL, &a.OAuth.ClientID, secret
		view.Scope, view.Audience, view.ClientAuth = orNil(a.OAuth.Scope), orNil(a.OAuth.Audience), new(clientAuth(a.OAuth.InBody))
	case hook.AuthNone:
	}
	return view
}

// orNil returns nil for an empty text.
func orNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// tlsBody holds the texts of TLS settings in a request, and their masks in records and responses. Empty:
// none.
type tlsBody struct {
	CA          string `json:"ca,omitzero"`
	Certificate string `json:"certificate,omitzero"`
	Key         string `json:"key,omitzero"`
}

// material translates the body. Package hook checks the content.
func (b tlsBody) material() (*hook.Material, hook.Fields) {
	return &hook.Material{CA: b.CA, Certificate: b.Certificate, Key: b.Key}, nil
}

// maskedTLS returns the settings for a record. Certificates are left out because they are long; the
// record of the change names the subject.
func maskedTLS(m hook.Material) tlsBody {
	return tlsBody{mask(m.CA), mask(m.Certificate), mask(m.Key)}
}

// tlsView is the TLS settings in a response.
type tlsView struct {
	tlsBody
	Subject  string     `json:"subject,omitzero"`
	NotAfter *time.Time `json:"not_after,omitzero"`
}

// viewTLS returns nil without settings.
func viewTLS(t hook.TLS) *tlsView {
	if !t.On() {
		return nil
	}
	view := new(tlsView)
	if t.CA {
		view.CA = hook.Masked
	}
	if t.Client {
		view.Certificate, view.Key, view.Subject, view.NotAfter = hook.Masked, hook.Masked, t.Subject, new(t.NotAfter)
	}
	return view
}

// destinationOf translates a flat object: the type, and its settings that are not empty, which
// package rule/destination checks.
func destinationOf(fields map[string]string) (*hook.Destination, hook.Fields) {
	types := destination.Names()
	words := each(types, hook.DestinationType.String)
	i := slices.Index(words, fields["type"])
	if i < 0 {
		return nil, hook.Fields{{Field: "destination.type", Message: "must be one of " + strings.Join(words, ", ")}}
	}
	d := hook.Destination{Type: types[i]}
	for name, value := range fields {
		if name != "type" && value != "" {
			if d.Settings == nil {
				d.Settings = make(map[string]string, len(fields))
			}
			d.Settings[name] = value
		}
	}
	return &d, nil
}

// viewDestination is the inverse, with the external id of a stored endpoint.
func viewDestination(d hook.Destination) map[string]string {
	fields := map[string]string{"type": d.Type.String()}
	if d.ExternalID != "" {
		fields["external_id"] = d.ExternalID
	}
	maps.Copy(fields, d.Settings)
	return fields
}
