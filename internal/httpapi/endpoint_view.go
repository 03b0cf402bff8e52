package httpapi

import (
	"reflect"
	"time"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/hook"
)

type endpointView struct {
	ID hook.EndpointID `json:"id"`
	settings
	TLS         *tlsView    `json:"tls,omitzero"` // in place of that of the settings; absent: the roots of the system
	PublicKey   string      `json:"public_key,omitzero"`
	Status      string      `json:"status"`
	Reason      hook.Reason `json:"reason"`
	StatusSince stamp       `json:"status_since"`
	CreatedAt   stamp       `json:"created_at"`
	UpdatedAt   stamp       `json:"updated_at"`
	Version     int64       `json:"version"`
}

// secretView is an endpoint with a new secret, which no other response contains.
type secretView struct {
	endpointView
	Secret string `json:"secret"`
}

// viewEndpoint returns the endpoint. Header values are masked for every caller, because a header
// may be a credential of the receiver.
func viewEndpoint(e hook.Endpoint) endpointView {
	headers := make(map[string]string, len(e.SealedHeaders))
	for name := range e.SealedHeaders {
		headers[name] = hook.Masked
	}
	schemes := make([]string, len(e.Schemes))
	for i, s := range e.Schemes {
		schemes[i] = s.String()
	}
	profiles := make([]string, len(e.Profiles))
	for i, p := range e.Profiles {
		profiles[i] = p.Name
	}
	v := endpointView{
		ID:          e.ID,
		TLS:         viewTLS(e.TLS, hook.Masked),
		PublicKey:   endpoint.PublicKey(e),
		Status:      e.Status.String(),
		Reason:      e.Reason,
		StatusSince: stamp(e.StatusSince),
		CreatedAt:   stamp(e.CreatedAt),
		UpdatedAt:   stamp(e.UpdatedAt),
		Version:     e.Version,
	}
	e.MaxRetryAfter, e.Shards, e.Circuit = e.RetryAfterCap(), e.Target().Shards, e.Circuit.WithDefaults()
	transfer(reflect.ValueOf(&v.settings).Elem(), reflect.ValueOf(e))
	v.Filter, v.Headers, v.Auth, v.Retry = viewFilter(e.Filter), &headers, viewAuth(e.Auth, hook.Masked), viewRetry(e.Retry)
	if e.Coalesce.On() {
		v.Coalesce = new(coalesceBody)
		transfer(reflect.ValueOf(v.Coalesce).Elem(), reflect.ValueOf(e.Coalesce))
	}
	v.Destination = viewDestination(e.Destination)
	v.Profiles, v.Schemes, v.Envelope, v.Egress = &profiles, &schemes, new(e.Envelope.String()), new(egressOf(e).String())
	return v
}

func viewRetry(p hook.RetryPolicy) *retryBody {
	v := new(retryBody)
	if p.Preset != "" {
		v.Preset = &p.Preset
	}
	if len(p.Schedule) > 0 {
		v.Schedule = new(viewDurations(p.Schedule))
	}
	if p.Exponential != (hook.Exponential{}) {
		v.Exponential = new(exponentialBody)
		transfer(reflect.ValueOf(v.Exponential).Elem(), reflect.ValueOf(p.Exponential))
	}
	if p.Jitter != 0 {
		v.Jitter = new(p.Jitter.String())
	}
	return v
}

func viewDurations(ds []time.Duration) []duration {
	view := make([]duration, len(ds))
	for i, d := range ds {
		view[i] = duration(d)
	}
	return view
}
