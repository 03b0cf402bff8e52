package hook

import (
	"cmp"
	"time"
)

// CircuitSettings are the thresholds of an endpoint's circuit. A zero field means the default.
type CircuitSettings struct {
	Failures    int           `stored:"failures"`        // consecutive transient failures that open the circuit, if nothing else failed within ten minutes; default 5
	Rate        float64       `stored:"rate"`            // share of failures within ten minutes from which on attempts need in-flight slots; default 0.5
	Minimum     int           `stored:"minimum"`         // attempts within ten minutes from which Rate applies, and which open the circuit if all fail; default 10
	Cooldown    time.Duration `stored:"cooldown_ns"`     // from the opening to the first probe; default 10 s
	MaxCooldown time.Duration `stored:"max_cooldown_ns"` // upper bound of the growing cooldown; default 1 h, or Cooldown if longer
}

// WithDefaults returns the settings with defaults in place of zero fields.
func (s CircuitSettings) WithDefaults() CircuitSettings {
	s.Failures = cmp.Or(s.Failures, DefaultCircuitFailures)
	s.Rate = cmp.Or(s.Rate, DefaultCircuitRate)
	s.Minimum = cmp.Or(s.Minimum, DefaultCircuitMinimum)
	s.Cooldown = cmp.Or(s.Cooldown, DefaultCooldown)
	s.MaxCooldown = cmp.Or(s.MaxCooldown, max(DefaultMaxCooldown, s.Cooldown))
	return s
}

// Sooner reports whether probes follow sooner than with the other settings.
func (s CircuitSettings) Sooner(than CircuitSettings) bool {
	s, than = s.WithDefaults(), than.WithDefaults()
	return s.Cooldown < than.Cooldown || s.MaxCooldown < than.MaxCooldown
}

// Defaults and bounds of the circuit and the limits.
const (
	DefaultCircuitFailures = 5
	DefaultCircuitRate     = 0.5
	DefaultCircuitMinimum  = 10
	DefaultCooldown        = 10 * time.Second
	DefaultMaxCooldown     = time.Hour

	MaxCircuitFailures = 100
	MinCircuitRate     = 0.01
	MaxCircuitMinimum  = 1000
	MinCooldown        = time.Second
	MaxCooldown        = 24 * time.Hour
	MinRatePerSecond   = 0.01
	MaxRatePerSecond   = 1000.0
	MaxMaxInFlight     = 100
)

func validateLimits(e Endpoint) []FieldError {
	var errs Fields
	NoneOrBetween(&errs, "rate_per_second", e.RatePerSecond, MinRatePerSecond, MaxRatePerSecond)
	NoneOrBetween(&errs, "max_in_flight", e.MaxInFlight, 1, MaxMaxInFlight)
	Between(&errs, "shards", e.Shards, 1, MaxShards)
	c := e.Circuit.WithDefaults()
	Between(&errs, "circuit.failures", c.Failures, 1, MaxCircuitFailures)
	Between(&errs, "circuit.rate", c.Rate, MinCircuitRate, 1)
	Between(&errs, "circuit.minimum", c.Minimum, 1, MaxCircuitMinimum)
	Between(&errs, "circuit.cooldown", c.Cooldown, MinCooldown, MaxCooldown)
	errs.Refuse(c.MaxCooldown < c.Cooldown || c.MaxCooldown > MaxCooldown,
		"circuit.max_cooldown", "must be circuit.cooldown to %s", FormatDuration(MaxCooldown))
	return errs
}

// CircuitCheck is the message that makes the breaker check an endpoint. Wave is the number of
// the release wave that is due, from 1; 0 for all other checks. Hops is the number of earlier
// checks of the same chain since the last progress (see MaxHops).
type CircuitCheck struct {
	Tenant   TenantID   `json:"tenant,omitempty"`
	Endpoint EndpointID `json:"endpoint,omitempty"`
	Wave     int        `json:"wave,omitempty"`
	Hops     int        `json:"hops,omitempty"`
}

func (c CircuitCheck) check(wrong *Fields) {
	_, noTenant := ParseTenantID(string(c.Tenant))
	_, noEndpoint := ParseEndpointID(string(c.Endpoint))
	wrong.Refuse(noTenant != nil, "tenant", "is required")
	wrong.Refuse(noEndpoint != nil, "endpoint", "is required")
	wrong.Refuse(c.Wave < 0, "wave", "is negative")
	wrong.Refuse(c.Hops < 0, "hops", "is negative")
}

// ReviewPage is the message that makes the breaker review some endpoints. A review of all
// active endpoints is split into pages.
type ReviewPage struct {
	At        time.Time      `json:"at"` // time of the review: every page, however often it is received, is judged as of this time
	Endpoints []CircuitCheck `json:"endpoints"`
}

// CircuitMessage is a message of the circuits queue: a check of one endpoint, or a page
// of a review.
type CircuitMessage struct {
	CircuitCheck

	Review *ReviewPage `json:"review,omitempty"` // nil: CircuitCheck
}

// Encode returns the message as a body.
func (m CircuitMessage) Encode() (string, error) { return EncodeMessage(m, "circuit check") }

// DecodeCircuitMessage is the inverse of Encode. Any other text gives CodeInvalid.
func DecodeCircuitMessage(body string) (CircuitMessage, error) {
	return DecodeMessage(body, "circuit check", func(m *CircuitMessage, wrong *Fields) {
		if m.Review == nil {
			m.check(wrong)
			return
		}
		wrong.Refuse(m.Review.At.IsZero(), "review.at", "is required")
		for _, c := range m.Review.Endpoints {
			c.check(wrong)
		}
	})
}
