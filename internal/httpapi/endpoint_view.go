package httpapi

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/hook"
)

type endpointView struct {
	ID               hook.EndpointID   `json:"id"`
	UID              string            `json:"uid"`
	URL              string            `json:"url"`
	Description      string            `json:"description"`
	EventTypes       []string          `json:"event_types"`
	Filter           jsontext.Value    `json:"filter"` // {}: none
	Metadata         map[string]string `json:"metadata"`
	Headers          map[string]string `json:"headers"`
	Auth             authView          `json:"auth"`
	TLS              *tlsView          `json:"tls,omitzero"` // absent: the roots of the system
	Retry            retryView         `json:"retry"`
	RetryOn          []int             `json:"retry_on"`
	GiveUpOn         []int             `json:"give_up_on"`
	Timeout          duration          `json:"timeout"`
	MaxAge           duration          `json:"max_age"`
	MaxRetryAfter    duration          `json:"max_retry_after"`
	RatePerSecond    float64           `json:"rate_per_second"` // 0: no limit
	MaxInFlight      int               `json:"max_in_flight"`   // 0: no limit
	Shards           int               `json:"shards"`
	Circuit          circuitView       `json:"circuit"`
	Coalesce         *coalesceView     `json:"coalesce,omitzero"`
	AutoDisable      bool              `json:"auto_disable"`
	Profiles         []string          `json:"signature_profiles"`
	SignatureSchemes []string          `json:"signature_schemes"`
	Region           string            `json:"region"` // empty: the deployment's own
	Egress           egress            `json:"egress"`
	Destination      *destinationView  `json:"destination,omitzero"` // absent: http
	Envelope         string            `json:"envelope"`
	Transformation   string            `json:"transformation"` // empty: none
	PublicKey        string            `json:"public_key,omitzero"`
	Status           string            `json:"status"`
	Reason           hook.Reason       `json:"reason"`
	StatusSince      stamp             `json:"status_since"`
	CreatedAt        stamp             `json:"created_at"`
	UpdatedAt        stamp             `json:"updated_at"`
	Version          int64             `json:"version"`
}

// secretView is an endpoint with a new secret, which no other response contains.
type secretView struct {
	endpointView
	Secret string `json:"secret"`
}

type coalesceView struct {
	Window    duration `json:"window"`
	MaxEvents int      `json:"max_events"`
	MaxBytes  int      `json:"max_bytes"`
}

// viewCoalescing returns nil for an endpoint that gets one request per event.
func viewCoalescing(c hook.Coalescing) *coalesceView {
	if !c.On() {
		return nil
	}
	return &coalesceView{Window: duration(c.Window), MaxEvents: c.MaxEvents, MaxBytes: c.MaxBytes}
}

type retryView struct {
	Preset      string           `json:"preset,omitzero"`
	Schedule    []duration       `json:"schedule,omitempty"`
	Exponential *exponentialBody `json:"exponential,omitzero"`
	Jitter      string           `json:"jitter,omitzero"`
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
	return endpointView{
		ID:               e.ID,
		UID:              e.UID,
		URL:              e.URL,
		Description:      e.Description,
		EventTypes:       e.EventTypes,
		Filter:           viewFilter(e.Filter),
		Metadata:         e.Metadata,
		Headers:          headers,
		Auth:             viewAuth(e.Auth, hook.Masked),
		TLS:              viewTLS(e.TLS, hook.Masked),
		Retry:            viewRetry(e.Retry),
		RetryOn:          append([]int{}, e.RetryOn...), // never null
		GiveUpOn:         append([]int{}, e.GiveUpOn...),
		Timeout:          duration(e.Timeout),
		MaxAge:           duration(e.MaxAge),
		MaxRetryAfter:    duration(e.RetryAfterCap()),
		RatePerSecond:    e.RatePerSecond,
		MaxInFlight:      e.MaxInFlight,
		Shards:           e.Target().Shards,
		Circuit:          viewCircuit(e.Circuit.WithDefaults()),
		Coalesce:         viewCoalescing(e.Coalesce),
		AutoDisable:      e.AutoDisable,
		Profiles:         profiles,
		SignatureSchemes: schemes,
		Envelope:         e.Envelope.String(),
		Transformation:   e.Transformation,
		Region:           e.Region,
		Egress:           egressOf(e),
		Destination:      viewDestination(e.Destination),
		PublicKey:        endpoint.PublicKey(e),
		Status:           e.Status.String(),
		Reason:           e.Reason,
		StatusSince:      stamp(e.StatusSince),
		CreatedAt:        stamp(e.CreatedAt),
		UpdatedAt:        stamp(e.UpdatedAt),
		Version:          e.Version,
	}
}

func viewRetry(p hook.RetryPolicy) retryView {
	v := retryView{Preset: p.Preset, Schedule: viewDurations(p.Schedule)}
	if p.Exponential != (hook.Exponential{}) {
		v.Exponential = &exponentialBody{
			Base: new(duration(p.Exponential.Base)), Factor: new(p.Exponential.Factor),
			Cap: new(duration(p.Exponential.Cap)), Attempts: new(p.Exponential.Attempts),
		}
	}
	if p.Jitter != 0 {
		v.Jitter = p.Jitter.String()
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
