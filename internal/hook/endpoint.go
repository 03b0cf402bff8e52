package hook

import (
	"strings"
	"time"
)

// Endpoint is where a tenant's events go: a URL, what it subscribes to, and how it wants to be treated.
type Endpoint struct {
	ID            EndpointID
	Tenant        TenantID
	UID           string // the user's own alias, unique in the tenant; empty for none
	URL           string
	Description   string
	EventTypes    []string // exact types, "prefix.*", or "*"
	Metadata      map[string]string
	Headers       map[string]string // sent with every request
	Retry         RetryPolicy
	Timeout       time.Duration // of one attempt, redirects included
	MaxAge        time.Duration // an unsettled delivery older than this is dead
	RatePerSecond float64       // attempts per second at most; 0: no limit
	MaxInFlight   int           // attempts under way at the same time at most; 0: no limit
	Circuit       CircuitSettings
	Style         HeaderStyle
	Schemes       []Scheme // signatures to send, without repeats; classic headers carry v1 only
	Secrets       []Secret // newest first
	Status        Status
	Reason        Reason // why it is paused or disabled
	StatusSince   time.Time
	CreatedAt     time.Time
	UpdatedAt     time.Time
	Version       int64 // of the stored record; 0 when there is none
}

// Secret is one signing key, sealed. During a rotation an endpoint has several per scheme.
type Secret struct {
	Scheme    Scheme
	Sealed    []byte // the key's text form, encrypted and bound to the endpoint's id
	Public    string // whpk_... of a v1a key
	CreatedAt time.Time
	ExpiresAt time.Time // zero: does not expire
}

// Active returns the secrets that sign at now, newest first.
func (e Endpoint) Active(now time.Time) []Secret {
	var active []Secret
	for _, s := range e.Secrets {
		if s.ExpiresAt.IsZero() || now.Before(s.ExpiresAt) {
			active = append(active, s)
		}
	}
	return active
}

// Disabled returns the endpoint taken out of service by a rule, for the reason.
func (e Endpoint) Disabled(reason Reason, at time.Time) Endpoint {
	e.Status, e.Reason = StatusDisabled, reason
	e.StatusSince, e.UpdatedAt = at, at
	return e
}

// Subscribes reports whether the endpoint wants events of the type: a pattern
// is the type itself, a prefix "order.*" that matches what follows the dot, or
// "*". Types under SystemPrefix are matched by a pattern that names the prefix,
// never by "*".
func (e Endpoint) Subscribes(eventType string) bool {
	for _, pattern := range e.EventTypes {
		if matches(pattern, eventType) {
			return true
		}
	}
	return false
}

// SystemPrefix begins the types of events that Surehook itself makes.
const SystemPrefix = "surehook."

func matches(pattern, eventType string) bool {
	if pattern == "*" {
		return !strings.HasPrefix(eventType, SystemPrefix)
	}
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(eventType, prefix) && len(eventType) > len(prefix)
	}
	return pattern == eventType
}

// Status says whether an endpoint is sent anything.
type Status uint8

// The statuses. The zero Status is not valid.
const (
	StatusActive   Status = iota + 1
	StatusPaused          // by hand, for a while; deliveries are parked
	StatusDisabled        // by hand or by rule; deliveries are parked
)

// String returns the status as it appears in the API and in logs.
func (s Status) String() string {
	switch s {
	case StatusActive:
		return "active"
	case StatusPaused:
		return "paused"
	case StatusDisabled:
		return "disabled"
	}
	return "unknown"
}

// HeaderStyle is the family of headers that carry signature and ids.
type HeaderStyle uint8

// The header styles. The zero HeaderStyle is not valid.
const (
	StyleStandard HeaderStyle = iota + 1 // Standard Webhooks: webhook-id, webhook-timestamp, webhook-signature
	StyleClassic                         // X-Webhook-Signature: sha256=<hex> and companions
)

// String returns the style as it appears in the API.
func (h HeaderStyle) String() string {
	switch h {
	case StyleStandard:
		return "standard"
	case StyleClassic:
		return "classic"
	}
	return "unknown"
}

// Scheme is a signature scheme of Standard Webhooks.
type Scheme uint8

// The schemes. The zero Scheme is not valid.
const (
	SchemeV1  Scheme = iota + 1 // HMAC-SHA256 under a shared secret
	SchemeV1a                   // ed25519; the receiver holds the public key only
)

// String returns the scheme as it appears in the API and in the signature header.
func (s Scheme) String() string {
	switch s {
	case SchemeV1:
		return "v1"
	case SchemeV1a:
		return "v1a"
	}
	return "unknown"
}

// RetryPolicy is when failed attempts are made again: a preset by name, a
// schedule of delays, or an exponential one. Package retry does the arithmetic.
type RetryPolicy struct {
	Preset      string          // "standard", "minute", "exponential" or "day"; empty when one of the others is set
	Schedule    []time.Duration // delay after each failure; one more attempt than delays
	Exponential Exponential     // zero when not used
	Jitter      Jitter          // how delays are spread; zero with a preset, which brings its own
}

// Exponential is a delay of Base x Factor^n after the failure n+1, at most Cap.
type Exponential struct {
	Base     time.Duration
	Factor   float64
	Cap      time.Duration
	Attempts int // in all, the first included
}

// Jitter is how a delay d is spread, so that deliveries that failed together do not return together.
type Jitter uint8

// The jitters. The zero Jitter is not valid.
const (
	JitterFull         Jitter = iota + 1 // uniform in [0, d]
	JitterEqual                          // uniform in [d/2, d]
	JitterProportional                   // uniform in [0.9 d, 1.1 d]
	JitterNone                           // d
)

// String returns the jitter as it appears in the API.
func (j Jitter) String() string {
	switch j {
	case JitterFull:
		return "full"
	case JitterEqual:
		return "equal"
	case JitterProportional:
		return "proportional"
	case JitterNone:
		return "none"
	}
	return "unknown"
}
