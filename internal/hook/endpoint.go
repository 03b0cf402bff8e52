package hook

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Endpoint is a receiver of a tenant's events: URL, subscription, limits, retry
// policy and signing keys. As in all records, the tag stored names the attribute of a field, see
// package dynamo.
type Endpoint struct {
	ID             EndpointID         `stored:"id"`
	Tenant         TenantID           `stored:"tenant"`
	UID            string             `stored:"uid"` // an alias chosen by the user, unique within the tenant; empty for none
	URL            string             `stored:"url"` // or another address, see Destination
	Description    string             `stored:"description"`
	EventTypes     []string           `stored:"event_types"` // exact types, "prefix.*" or "prefix:*", or "*"
	Filter         []byte             `stored:"filter"`      // JSON, see package filter; empty: every event of the types
	Metadata       map[string]string  `stored:"metadata"`
	Headers        map[string]string  // additional headers of every request in plain text: only in API requests, never stored
	SealedHeaders  map[string][]byte  `stored:"headers"` // the same, by name; each value is encrypted as HeaderText with the endpoint id as context
	Auth           Auth               `stored:"auth"`    // how Surehook authenticates itself to the receiver
	TLS            TLS                `stored:"tls"`
	Retry          RetryPolicy        `stored:"retry"`
	RetryOn        []int              `stored:"retry_on"`           // statuses that are retried in addition to the default ones; see ResultOf
	GiveUpOn       []int              `stored:"give_up_on"`         // statuses that are not retried, in addition to the default ones
	Timeout        time.Duration      `stored:"timeout_ns"`         // of one attempt, redirects included
	MaxAge         time.Duration      `stored:"max_age_ns"`         // an older unsettled delivery becomes dead
	MaxRetryAfter  time.Duration      `stored:"max_retry_after_ns"` // caps the wait that an answer asks for; 0: the default, see RetryAfterCap
	RatePerSecond  float64            `stored:"rate_per_second"`    // maximum of attempts per second; 0: no limit
	MaxInFlight    int                `stored:"max_in_flight"`      // maximum of concurrent attempts; 0: no limit
	Shards         int                `stored:"shards"`             // shards of the deliveries of new events, 1 to MaxShards
	ShardsEver     int                `stored:"shards_ever"`        // the highest Shards so far
	Circuit        CircuitSettings    `stored:"circuit"`
	Coalesce       Coalescing         `stored:"coalesce"`       // zero: one request per event
	Ordered        bool               `stored:"ordered"`        // events with the same ordering key one after the other
	OnFailure      OnFailure          `stored:"on_failure"`     // what a dead delivery of an ordered endpoint does to those behind it
	AutoDisable    bool               `stored:"auto_disable"`   // a review may disable the endpoint for too many dead deliveries; a 410 response disables it in any case
	RecordHeaders  bool               `stored:"record_headers"` // an attempt that succeeds keeps headers of request and response, too
	Profiles       []SignatureProfile `stored:"profiles"`       // of every request, 1 or 2
	Destination    Destination        `stored:"destination"`
	Envelope       Envelope           `stored:"envelope"`
	Transformation string             `stored:"transformation"` // a CEL expression that shapes the requests, in place of the envelope; empty: none
	Region         string             `stored:"region"`         // of the requests; empty for the deployment's own; see Origin
	Fixed          bool               `stored:"fixed"`          // requests come from fixed addresses in the deployment's region, or its private network, and from nowhere else
	Schemes        []Scheme           `stored:"schemes"`        // signatures of every request, without duplicates; only the profile standard carries v1a
	Secrets        []Secret           `stored:"secrets"`        // newest first
	Status         Status             `stored:"status"`
	Reason         Reason             `stored:"reason"` // of status paused or disabled
	StatusSince    time.Time          `stored:"status_since"`
	CreatedAt      time.Time          `stored:"created_at"`
	UpdatedAt      time.Time          `stored:"updated_at"`
	Version        int64              `stored:"version"` // of the stored record; 0 for no record

	// TenantVersion is the version of the tenant on which the creation of the endpoint, or its
	// move to another URL, is conditional: no endpoint of the tenant has changed since. nil: no
	// condition. Reads leave it nil.
	TenantVersion *int64
}

// RetryAfterCap returns the longest wait that the endpoint can ask for.
func (e *Endpoint) RetryAfterCap() time.Duration {
	return cmp.Or(e.MaxRetryAfter, DefaultMaxRetryAfter)
}

// Secret is an encrypted signing key. During a rotation an endpoint has several
// secrets per scheme.
type Secret struct {
	Scheme    Scheme    `stored:"scheme"`
	Sealed    []byte    `stored:"sealed"` // the text form of the key, encrypted with the endpoint id as context
	Public    string    `stored:"public"` // public key of a v1a key, whpk_...
	CreatedAt time.Time `stored:"created_at"`
	ExpiresAt time.Time `stored:"expires_at"` // zero: never
}

// Masked stands for a hidden text in responses.
const Masked = "***"

// HeaderText returns the text to encrypt for a header. With the name in front, the ciphertext
// cannot be used for another header, nor a signing secret as a header.
func HeaderText(name, value string) string { return strings.ToLower(name) + ": " + value }

// HeaderValue is the inverse of HeaderText; false if the text is not that of this header.
func HeaderValue(name, text string) (string, bool) {
	return strings.CutPrefix(text, strings.ToLower(name)+": ")
}

// Active returns the unexpired secrets at now, newest first.
func (e *Endpoint) Active(now time.Time) []Secret {
	return slices.DeleteFunc(slices.Clone(e.Secrets), func(s Secret) bool { return !s.ExpiresAt.IsZero() && !now.Before(s.ExpiresAt) })
}

// OldSecretsUntil returns the time until which secrets of earlier rotations sign; zero without any.
func (e *Endpoint) OldSecretsUntil(now time.Time) time.Time {
	var until time.Time
	for _, s := range e.Active(now) {
		if s.ExpiresAt.After(until) {
			until = s.ExpiresAt
		}
	}
	return until
}

// Sharded returns the endpoint with the number of shards for new events.
func (e Endpoint) Sharded(shards int) Endpoint {
	e.ShardsEver = max(e.ShardsEver, e.Shards, shards)
	e.Shards = shards
	return e
}

// Remote reports whether the requests are made elsewhere than in function deliver.
func (e *Endpoint) Remote() bool { return e.Region != "" || e.Fixed }

// Target returns the endpoint as the target of a new event.
func (e Endpoint) Target() Target { return Target{Endpoint: e.ID, Shards: max(e.Shards, 1)} }

// Widest returns the endpoint with the highest number of shards that it ever had: these contain
// all its deliveries.
func (e Endpoint) Widest() Target {
	return Target{Endpoint: e.ID, Shards: max(e.Shards, e.ShardsEver, 1)}
}

// Signing returns the active secrets of the endpoint's signature schemes, newest first. The
// endpoint may also keep secrets of other schemes, for when its schemes change again.
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
// "order.", which may end with a colon in place of the dot, or "*". The pattern "*" excludes types under SystemPrefix.
func (e Endpoint) Subscribes(eventType string) bool { return Subscribes(e.EventTypes, eventType) }

// Subscribes reports whether one of an endpoint's patterns matches the type.
func Subscribes(patterns []string, eventType string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, eventType) })
}

// SystemPrefix is the prefix of the types of Surehook's own events.
const SystemPrefix = "webhook."

func matches(pattern, eventType string) bool {
	if pattern == "*" {
		return !strings.HasPrefix(eventType, SystemPrefix)
	}
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(eventType, prefix) && len(eventType) > len(prefix)
	}
	return pattern == eventType
}

// Named reports whether the text is a part of what names the endpoint for people, in any case.
func (e *Endpoint) Named(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc([]string{string(e.ID), e.UID, e.URL, e.Description}, func(name string) bool {
		return strings.Contains(strings.ToLower(name), text)
	})
}
