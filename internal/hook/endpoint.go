package hook

import (
	"net"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Endpoint is a receiver of a tenant's events: URL, subscription, limits, retry
// policy and signing keys.
type Endpoint struct {
	ID            EndpointID
	Tenant        TenantID
	UID           string // an alias chosen by the user, unique within the tenant; empty for none
	URL           string
	Description   string
	EventTypes    []string // exact types, "prefix.*", or "*"
	Filter        []byte   // JSON, see package filter; empty: every event of the types
	Metadata      map[string]string
	Headers       map[string]string // additional headers of every request, in clear: of requests only, never stored
	SealedHeaders map[string][]byte // the same by name, each value encrypted as HeaderText, with the endpoint id as context
	Auth          Auth              // of Surehook at the receiver
	TLS           TLS
	Retry         RetryPolicy
	RetryOn       []int         // statuses with a retry beside the default ones; see ResultOf
	GiveUpOn      []int         // statuses without a retry beside the default ones
	Timeout       time.Duration // of one attempt, redirects included
	MaxAge        time.Duration // an older unsettled delivery becomes dead
	RatePerSecond float64       // maximum of attempts per second; 0: no limit
	MaxInFlight   int           // maximum of concurrent attempts; 0: no limit
	Shards        int           // of the deliveries of new events, 1 to MaxShards
	ShardsEver    int           // the highest Shards so far
	Circuit       CircuitSettings
	Coalesce      Coalescing // zero: a request per event
	AutoDisable   bool       // reviews may disable the endpoint for too many dead deliveries; an answer 410 disables in any case
	Style         HeaderStyle
	Region        string   // of the requests; empty for the deployment's own
	Fixed         bool     // requests come from fixed addresses of the own region, or are not made
	Schemes       []Scheme // signatures of every request, without duplicates; classic headers support v1 only
	Secrets       []Secret // newest first
	Status        Status
	Reason        Reason // of status paused or disabled
	StatusSince   time.Time
	CreatedAt     time.Time
	UpdatedAt     time.Time
	Version       int64 // of the stored record; 0 for no record

	// TenantVersion is the version of the tenant that a creation, or a move to another
	// URL, requires: no endpoint of the tenant has changed since. nil: any. Reads leave
	// it nil.
	TenantVersion *int64
}

// Secret is an encrypted signing key. During a rotation an endpoint has several
// secrets per scheme.
type Secret struct {
	Scheme    Scheme
	Sealed    []byte // the text form of the key, encrypted, with the endpoint id as context
	Public    string // public key of a v1a key, whpk_...
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
}

// Masked stands for a hidden text in responses.
const Masked = "***"

// HeaderText returns the text to encrypt for a header. The name in front keeps a
// ciphertext from serving as another header, and a signing secret from serving as a
// header.
func HeaderText(name, value string) string { return strings.ToLower(name) + ": " + value }

// HeaderValue is the inverse of HeaderText; false for the text of another header, or
// of no header.
func HeaderValue(name, text string) (string, bool) {
	return strings.CutPrefix(text, strings.ToLower(name)+": ")
}

// Receiver returns the form of an endpoint's URL that tells receivers apart: host
// in lower case, without the default port, and with "/" for an empty path. Paths
// and queries stay, because both can name a receiver.
func Receiver(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return rawURL
	}
	u.Host = strings.TrimSuffix(strings.ToLower(u.Host), ":443")
	if u.Path == "" {
		u.Path = "/"
	}
	u.Fragment = ""
	return u.String()
}

// Origin returns the scheme, host and port of a URL, with the host in lower case and with
// the port also if it is the default one. URLs of one origin lead to the same server.
func Origin(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return rawURL
	}
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "http":
		port = "80"
	default:
		port = "443"
	}
	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// Host returns the host of a URL without the port, in lower case; the URL itself if it
// has none.
func Host(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil || u.Host == "" {
		return rawURL
	}
	return strings.ToLower(u.Hostname())
}

// Active returns the unexpired secrets at now, newest first.
func (e *Endpoint) Active(now time.Time) []Secret {
	var active []Secret
	for _, s := range e.Secrets {
		if s.ExpiresAt.IsZero() || now.Before(s.ExpiresAt) {
			active = append(active, s)
		}
	}
	return active
}

// Sharded returns the endpoint with the number of shards for new events.
func (e Endpoint) Sharded(shards int) Endpoint {
	e.ShardsEver = max(e.ShardsEver, e.Shards, shards)
	e.Shards = shards
	return e
}

// Remote reports whether another place than the deliverer's makes the requests.
func (e *Endpoint) Remote() bool { return e.Region != "" || e.Fixed }

// Target returns the endpoint as the target of a new event.
func (e Endpoint) Target() Target { return Target{Endpoint: e.ID, Shards: max(e.Shards, 1)} }

// Widest returns the endpoint with the highest number of shards so far: the shards of
// all the endpoint's deliveries.
func (e Endpoint) Widest() Target {
	return Target{Endpoint: e.ID, Shards: max(e.Shards, e.ShardsEver, 1)}
}

// Signing returns the active secrets of the endpoint's signature schemes, newest
// first. The endpoint may also have secrets of other schemes, for a later change of
// the schemes.
func (e *Endpoint) Signing(now time.Time) []Secret {
	return slices.DeleteFunc(e.Active(now), func(s Secret) bool { return !slices.Contains(e.Schemes, s.Scheme) })
}

// Disabled returns the endpoint with status disabled and the reason.
func (e Endpoint) Disabled(reason Reason, at time.Time) Endpoint {
	e.Status, e.Reason = StatusDisabled, reason
	e.StatusSince, e.UpdatedAt = at, at
	return e
}

// Subscribes reports whether a pattern of the endpoint matches the event type. A
// pattern is an exact type, a prefix such as "order.*" for all types below
// "order.", or "*". The pattern "*" excludes types under SystemPrefix.
func (e Endpoint) Subscribes(eventType string) bool {
	for _, pattern := range e.EventTypes {
		if matches(pattern, eventType) {
			return true
		}
	}
	return false
}

// SystemPrefix is the prefix of the types of Surehook's own events.
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

// Status tells whether Surehook sends requests to an endpoint.
type Status uint8

// The statuses. The zero Status is not valid.
const (
	StatusActive   Status = iota + 1
	StatusPaused          // paused by a caller; deliveries are parked
	StatusDisabled        // disabled by a caller or by a rule; deliveries are parked
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

// HeaderStyle selects the header names for signature and ids.
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
	SchemeV1a                   // ed25519; the receiver holds only the public key
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

// RetryPolicy determines the delays between attempts: a preset by name, a
// schedule of delays, or exponential growth. Package retry does the arithmetic.
type RetryPolicy struct {
	Preset      string          // "standard", "minute", "exponential" or "day"; empty with Schedule or Exponential
	Schedule    []time.Duration // delay after each failure; attempts = delays + 1
	Exponential Exponential     // zero for none
	Jitter      Jitter          // spread of the delays; zero with a preset, because presets define the jitter
}

// Exponential is a delay of Base x Factor^n after failure n+1, at most Cap.
type Exponential struct {
	Base     time.Duration
	Factor   float64
	Cap      time.Duration
	Attempts int // total, including the first
}

// Jitter is the spread of a delay d. The spread separates the retries of
// deliveries with simultaneous failures.
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
