package dynamo

import (
	"errors"
	"time"

	"surehook.example/surehook/internal/hook"
)

type endpointItem struct {
	key
	ID          hook.EndpointID   `dynamodbav:"id"`
	Tenant      hook.TenantID     `dynamodbav:"tenant"`
	UID         string            `dynamodbav:"uid,omitempty"`
	URL         string            `dynamodbav:"url"`
	Description string            `dynamodbav:"description,omitempty"`
	EventTypes  []string          `dynamodbav:"event_types,omitempty"`
	Filter      []byte            `dynamodbav:"filter,omitempty"`
	Metadata    map[string]string `dynamodbav:"metadata,omitempty"`
	Headers     map[string][]byte `dynamodbav:"headers,omitempty"` // sealed
	Auth        *authItem         `dynamodbav:"auth,omitempty"`
	TLS         *tlsItem          `dynamodbav:"tls,omitempty"`
	Retry       retryItem         `dynamodbav:"retry"`
	RetryOn     []int             `dynamodbav:"retry_on,omitempty"`
	GiveUpOn    []int             `dynamodbav:"give_up_on,omitempty"`
	Timeout     time.Duration     `dynamodbav:"timeout_ns"`
	MaxAge      time.Duration     `dynamodbav:"max_age_ns"`
	RetryAfter  time.Duration     `dynamodbav:"max_retry_after_ns,omitempty"`
	Rate        float64           `dynamodbav:"rate_per_second,omitempty"`
	MaxInFlight int               `dynamodbav:"max_in_flight,omitempty"`
	Shards      int               `dynamodbav:"shards,omitempty"`
	ShardsEver  int               `dynamodbav:"shards_ever,omitempty"`
	Circuit     *settingsItem     `dynamodbav:"circuit,omitempty"`
	Coalesce    *coalesceItem     `dynamodbav:"coalesce,omitempty"`
	AutoDisable bool              `dynamodbav:"auto_disable"`
	Profiles    []profileItem     `dynamodbav:"profiles"`
	Region      string            `dynamodbav:"region,omitempty"`
	Fixed       bool              `dynamodbav:"fixed,omitempty"`
	Destination *destinationItem  `dynamodbav:"destination,omitempty"`
	Envelope    string            `dynamodbav:"envelope,omitempty"` // without: raw
	Expression  string            `dynamodbav:"transformation,omitempty"`
	Schemes     []string          `dynamodbav:"schemes,omitempty"`
	Secrets     []secretItem      `dynamodbav:"secrets,omitempty"`
	Status      string            `dynamodbav:"status"`
	Reason      hook.Reason       `dynamodbav:"reason,omitempty"`
	StatusSince int64             `dynamodbav:"status_since,omitempty"`
	CreatedAt   int64             `dynamodbav:"created_at"`
	UpdatedAt   int64             `dynamodbav:"updated_at"`
	Version     int64             `dynamodbav:"version"`
}

type retryItem struct {
	Preset   string          `dynamodbav:"preset,omitempty"`
	Schedule []time.Duration `dynamodbav:"schedule_ns,omitempty"`
	Base     time.Duration   `dynamodbav:"base_ns,omitempty"`
	Factor   float64         `dynamodbav:"factor,omitempty"`
	Cap      time.Duration   `dynamodbav:"cap_ns,omitempty"`
	Attempts int             `dynamodbav:"attempts,omitempty"`
	Jitter   string          `dynamodbav:"jitter,omitempty"`
}

// profileItem is a profile of Surehook, with a name only, or the copy of a deployment's.
type profileItem struct {
	Name      string            `dynamodbav:"name"`
	Signed    string            `dynamodbav:"signed,omitempty"`
	Algorithm string            `dynamodbav:"algorithm,omitempty"`
	Encoding  string            `dynamodbav:"encoding,omitempty"`
	Key       string            `dynamodbav:"key,omitempty"`
	Prefix    string            `dynamodbav:"prefix,omitempty"`
	Separator string            `dynamodbav:"separator,omitempty"`
	Headers   map[string]string `dynamodbav:"headers,omitempty"`
}

// settingsItem omits default settings.
type settingsItem struct {
	Failures    int           `dynamodbav:"failures,omitempty"`
	Rate        float64       `dynamodbav:"rate,omitempty"`
	Minimum     int           `dynamodbav:"minimum,omitempty"`
	Cooldown    time.Duration `dynamodbav:"cooldown_ns,omitempty"`
	MaxCooldown time.Duration `dynamodbav:"max_cooldown_ns,omitempty"`
}

type coalesceItem struct {
	Window    time.Duration `dynamodbav:"window_ns"`
	MaxEvents int           `dynamodbav:"max_events"`
	MaxBytes  int           `dynamodbav:"max_bytes"`
}

type secretItem struct {
	Scheme    string `dynamodbav:"scheme"`
	Sealed    []byte `dynamodbav:"sealed"`
	Public    string `dynamodbav:"public,omitempty"`
	CreatedAt int64  `dynamodbav:"created_at,omitempty"`
	ExpiresAt int64  `dynamodbav:"expires_at,omitempty"` // milliseconds: TTL reads top-level attributes only
}

// toEndpointItem returns the next version of e.
func toEndpointItem(e hook.Endpoint) endpointItem {
	it := endpointItem{
		key:         endpointKey(e.ID),
		ID:          e.ID,
		Tenant:      e.Tenant,
		UID:         e.UID,
		URL:         e.URL,
		Description: e.Description,
		EventTypes:  e.EventTypes,
		Filter:      e.Filter,
		Metadata:    e.Metadata,
		Headers:     e.SealedHeaders,
		Auth:        toAuthItem(e.Auth),
		TLS:         toTLSItem(e.TLS),
		Retry:       toRetryItem(e.Retry),
		RetryOn:     e.RetryOn,
		GiveUpOn:    e.GiveUpOn,
		Timeout:     e.Timeout,
		MaxAge:      e.MaxAge,
		RetryAfter:  e.MaxRetryAfter,
		Rate:        e.RatePerSecond,
		MaxInFlight: e.MaxInFlight,
		Shards:      e.Shards,
		ShardsEver:  e.ShardsEver,
		Circuit:     toSettingsItem(e.Circuit),
		Coalesce:    toCoalesceItem(e.Coalesce),
		AutoDisable: e.AutoDisable,
		Region:      e.Region,
		Fixed:       e.Fixed,
		Destination: toDestinationItem(e.Destination),
		Envelope:    word(e.Envelope),
		Expression:  e.Transformation,
		Status:      word(e.Status),
		Reason:      e.Reason,
		StatusSince: millis(e.StatusSince),
		CreatedAt:   millis(e.CreatedAt),
		UpdatedAt:   millis(e.UpdatedAt),
		Version:     e.Version + 1,
	}
	for _, p := range e.Profiles {
		it.Profiles = append(it.Profiles, profileItem(p))
	}
	for _, scheme := range e.Schemes {
		it.Schemes = append(it.Schemes, word(scheme))
	}
	for _, s := range e.Secrets {
		it.Secrets = append(it.Secrets, secretItem{
			Scheme: word(s.Scheme), Sealed: s.Sealed, Public: s.Public, CreatedAt: millis(s.CreatedAt), ExpiresAt: millis(s.ExpiresAt),
		})
	}
	return it
}

func toRetryItem(p hook.RetryPolicy) retryItem {
	return retryItem{
		Preset:   p.Preset,
		Schedule: p.Schedule,
		Base:     p.Exponential.Base,
		Factor:   p.Exponential.Factor,
		Cap:      p.Exponential.Cap,
		Attempts: p.Exponential.Attempts,
		Jitter:   word(p.Jitter),
	}
}

// toSettingsItem returns nil when all settings have the defaults.
func toSettingsItem(s hook.CircuitSettings) *settingsItem {
	if s == (hook.CircuitSettings{}) {
		return nil
	}
	it := settingsItem(s)
	return &it
}

func fromSettingsItem(it *settingsItem) hook.CircuitSettings {
	if it == nil {
		return hook.CircuitSettings{}
	}
	return hook.CircuitSettings(*it)
}

// toCoalesceItem returns nil for an endpoint with a request per event.
func toCoalesceItem(c hook.Coalescing) *coalesceItem {
	if !c.On() {
		return nil
	}
	it := coalesceItem(c)
	return &it
}

func fromCoalesceItem(it *coalesceItem) hook.Coalescing {
	if it == nil {
		return hook.Coalescing{}
	}
	return hook.Coalescing(*it)
}

func fromEndpointItem(it endpointItem) (hook.Endpoint, error) {
	status, statusErr := parse[hook.Status](it.Status)
	jitter, jitterErr := parse[hook.Jitter](it.Retry.Jitter)
	auth, authErr := fromAuthItem(it.Auth)
	destination, destinationErr := fromDestinationItem(it.Destination)
	envelope, envelopeErr := parse[hook.Envelope](it.Envelope)
	errs := []error{envelopeErr, statusErr, jitterErr, authErr, destinationErr}

	e := hook.Endpoint{
		ID:            it.ID,
		Tenant:        it.Tenant,
		UID:           it.UID,
		URL:           it.URL,
		Description:   it.Description,
		EventTypes:    it.EventTypes,
		Filter:        it.Filter,
		Metadata:      it.Metadata,
		SealedHeaders: it.Headers,
		Auth:          auth,
		TLS:           fromTLSItem(it.TLS),
		Retry: hook.RetryPolicy{
			Preset:   it.Retry.Preset,
			Schedule: it.Retry.Schedule,
			Exponential: hook.Exponential{
				Base: it.Retry.Base, Factor: it.Retry.Factor, Cap: it.Retry.Cap, Attempts: it.Retry.Attempts,
			},
			Jitter: jitter,
		},
		RetryOn:        it.RetryOn,
		GiveUpOn:       it.GiveUpOn,
		Timeout:        it.Timeout,
		MaxAge:         it.MaxAge,
		MaxRetryAfter:  it.RetryAfter,
		RatePerSecond:  it.Rate,
		MaxInFlight:    it.MaxInFlight,
		Shards:         it.Shards,
		ShardsEver:     it.ShardsEver,
		AutoDisable:    it.AutoDisable,
		Circuit:        fromSettingsItem(it.Circuit),
		Coalesce:       fromCoalesceItem(it.Coalesce),
		Region:         it.Region,
		Fixed:          it.Fixed,
		Destination:    destination,
		Envelope:       envelope,
		Transformation: it.Expression,
		Status:         status,
		Reason:         it.Reason,
		StatusSince:    fromMillis(it.StatusSince),
		CreatedAt:      fromMillis(it.CreatedAt),
		UpdatedAt:      fromMillis(it.UpdatedAt),
		Version:        it.Version,
	}
	for _, p := range it.Profiles {
		e.Profiles = append(e.Profiles, hook.SignatureProfile(p))
	}
	for _, s := range it.Schemes {
		scheme, err := parse[hook.Scheme](s)
		e.Schemes = append(e.Schemes, scheme)
		errs = append(errs, err)
	}
	for _, s := range it.Secrets {
		scheme, err := parse[hook.Scheme](s.Scheme)
		e.Secrets = append(e.Secrets, hook.Secret{
			Scheme: scheme, Sealed: s.Sealed, Public: s.Public, CreatedAt: fromMillis(s.CreatedAt), ExpiresAt: fromMillis(s.ExpiresAt),
		})
		errs = append(errs, err)
	}
	return e, errors.Join(errs...)
}
