package hook

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of requests: bytes, entries or durations. docs/limits.md lists the bounds.
const (
	MaxPayload     = 256 << 10 // bytes of one payload
	MaxBatchEvents = 100
	// MaxBatchBytes is the size of one batch request. Lambda accepts events of 6 MiB that
	// contain the body as a JSON string, which is twice as long if the body consists of quotes
	// and backslashes. So: half of 6 MiB, less 64 KiB for headers and context.
	MaxBatchBytes          = 3<<20 - 64<<10
	DefaultEndpoints       = 500    // of a tenant, unless the operator sets its limit
	MaxEndpointsPerTenant  = 10_000 // the largest limit
	MaxEndpointsPerURL     = 10     // of a tenant: so one event causes at most 10 requests to one URL
	MaxURL                 = 2048   // bytes
	MaxUID                 = 128
	MaxDescription         = 1024
	MaxEventTypes          = 100
	maxTypeLen             = 128 // of an event type, in bytes
	MaxMetadata            = 50
	MaxMetadataKey         = 64
	MaxMetadataValue       = 512
	MaxHeaders             = 20
	MaxHeaderName          = 64
	MaxHeaderValue         = 1024
	MaxIdempotencyKey      = 255
	MinTimeout             = time.Second
	MaxTimeout             = 30 * time.Second
	DefaultTimeout         = 10 * time.Second
	MinMaxAge              = time.Second
	MaxMaxAge              = 14 * 24 * time.Hour
	DefaultMaxAge          = 72 * time.Hour
	MinMaxRetryAfter       = time.Second
	MaxMaxRetryAfter       = 24 * time.Hour
	DefaultMaxRetryAfter   = time.Hour
	MaxScheduleDelays      = 20
	MaxDelay               = 7 * 24 * time.Hour
	MaxAttempts            = MaxScheduleDelays + 1 // that a retry policy counts
	MaxRequests            = MaxAttempts + 1       // recorded attempts: one more after a stale connection or a rejection with others
	MaxExponentialFactor   = 10.0
	DefaultRotationOverlap = 24 * time.Hour
	MaxRotationOverlap     = 7 * 24 * time.Hour
)

var (
	subscription   = regexp.MustCompile(`^(\*|[A-Za-z0-9_.:-]{1,128}|[A-Za-z0-9_.:-]{1,126}[.:]\*)$`)
	headerName     = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$")
	headerValue    = regexp.MustCompile(`^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$`)
	idempotencyKey = regexp.MustCompile(`^[\x21-\x7e]{1,255}$`)
	orderingKey    = regexp.MustCompile(`^[\x21-\x7e]{1,128}$`) // what FIFO queues take as a group
)

// ValidEventType reports whether s can be the type of an event, including Surehook's own types:
// 1 to 128 letters, digits, underscores, dots, colons and hyphens.
func ValidEventType(s string) bool { return isOf(s, nameChars+":", maxTypeLen) }

// ValidPattern reports whether s is a valid subscription pattern: an exact event
// type, a prefix such as "order.*" or "order:*", or "*".
func ValidPattern(s string) bool { return subscription.MatchString(s) }

// ValidateEvent checks the type and the idempotency key, and that there is a payload. The
// parser of the request checks the payload itself.
func ValidateEvent(e Event) []FieldError {
	var errs Fields
	switch {
	case e.Type == "":
		errs.Add("event_type", "is missing")
	case strings.Contains(e.Type, "/"):
		errs.Add("event_type", "must not contain /: separate its parts by dots, such as orders.create")
	case !ValidEventType(e.Type):
		errs.Add("event_type", "must be 1 to 128 of A-Z a-z 0-9 _ . : -")
	case strings.HasPrefix(e.Type, SystemPrefix):
		errs.Add("event_type", "types that begin with %s are made by Surehook only", SystemPrefix)
	}
	errs.Refuse(len(e.Payload) == 0, "payload", "is missing")
	errs.Refuse(e.IdempotencyKey != "" && !idempotencyKey.MatchString(e.IdempotencyKey),
		"idempotency_key", "must be 1 to 255 visible ASCII characters")
	errs.Refuse(e.OrderingKey != "" && !orderingKey.MatchString(e.OrderingKey), "ordering_key", "must be 1 to 128 visible ASCII characters")
	return errs
}

// ValidateEndpoint checks all fields of an endpoint, except the retry policy
// (package retry) and the permission to dial the URL (package egress).
func ValidateEndpoint(e Endpoint) []FieldError {
	var errs Fields

	errs.Refuse(e.UID != "" && !ValidUID(e.UID),
		"uid", "must be 1 to %d of A-Z a-z 0-9 _ . -, not . or .., and not begin with %s", MaxUID, endpointPrefix)
	errs.Refuse(e.URL == "", "url", "is missing")
	errs.Refuse(len(e.Description) > MaxDescription || !ValidText(e.Description),
		"description", "must be at most %d bytes without control characters", MaxDescription)
	errs.Refuse(len(e.EventTypes) == 0 || len(e.EventTypes) > MaxEventTypes, "event_types", "must name 1 to %d types", MaxEventTypes)
	for i, t := range e.EventTypes[:min(len(e.EventTypes), MaxEventTypes)] {
		if !subscription.MatchString(t) {
			errs.Add(fmt.Sprintf("event_types[%d]", i), `must be a type such as "order.paid", a prefix such as "order.*", or "*"`)
		}
	}
	errs.Refuse(len(e.Metadata) > MaxMetadata, "metadata", "must have at most %d entries", MaxMetadata)
	for k, v := range e.Metadata { // one error is enough
		if k == "" || len(k) > MaxMetadataKey || len(v) > MaxMetadataValue || !ValidText(k) || !ValidText(v) {
			errs.Add("metadata", "keys must be 1 to %d bytes and values at most %d, without control characters", MaxMetadataKey, MaxMetadataValue)
			break
		}
	}
	errs = slices.Concat(errs, ValidateHeaders(e.Headers), validateAuth(e.Auth), ValidateShape(e),
		validateStatuses(e), validateLimits(e), validateCoalescing(e))
	Between(&errs, "timeout", e.Timeout, MinTimeout, MaxTimeout)
	NoneOrBetween(&errs, "max_retry_after", e.MaxRetryAfter, MinMaxRetryAfter, MaxMaxRetryAfter)
	if Between(&errs, "max_age", e.MaxAge, MinMaxAge, MaxMaxAge) {
		errs = append(errs, validateWaits(e)...)
	}
	return append(errs, validateProfiles(e)...)
}

// The shortest max_age of an endpoint whose events wait before their first attempt.
const (
	MinMaxAgeAfterWindow = 10 * time.Second // the tasks of a window are gathered for CoalesceGather
	MinMaxAgeOfRate      = 2 * time.Minute  // a task waits for its turn up to a minute
)

// validateWaits refuses settings under which events get older than max_age while they wait for
// their first attempt. It names both fields, because a change may set either.
func validateWaits(e Endpoint) []FieldError {
	window := e.Coalesce.Window
	for _, wait := range []struct {
		field string
		on    bool
		least time.Duration // of max_age
	}{
		{"coalesce.window", e.Coalesce.On(), window + MinMaxAgeAfterWindow},
		{"rate_per_second", e.RatePerSecond > 0, 2*window + MinMaxAgeOfRate},
	} {
		if least := FormatDuration(wait.least); wait.on && e.MaxAge < wait.least {
			return []FieldError{
				{wait.field, fmt.Sprintf("needs a max_age of at least %s, and max_age is %s: events would die while they wait", least, FormatDuration(e.MaxAge))},
				{"max_age", fmt.Sprintf("must be at least %s with this %s: events would die while they wait", least, wait.field)},
			}
		}
	}
	return nil
}

// ValidText reports whether s can be stored and shown as free text: UTF-8 without control
// characters (category Cc: C0, DEL and C1). Line breaks are control characters, so a text stays
// on one line in logs, terminals and tables.
func ValidText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// ValidateHeaders checks the names and values of headers that users set.
func ValidateHeaders(headers map[string]string) []FieldError {
	if len(headers) > MaxHeaders {
		return []FieldError{{"headers", fmt.Sprintf("must have at most %d entries", MaxHeaders)}}
	}
	var errs Fields
	for name, value := range headers {
		switch {
		case !headerName.MatchString(name):
			errs.Add("headers", "names must be 1 to %d characters of an HTTP token", MaxHeaderName)
		case ReservedHeader(name):
			errs.Add("headers."+name, "is set by Surehook, HTTP or proxies")
		case len(value) > MaxHeaderValue || !ValidHeaderValue(value):
			errs.Add("headers."+name, "must be 1 to %d visible ASCII characters, with spaces only inside", MaxHeaderValue)
		}
	}
	return errs
}

// ValidHeaderValue reports whether s can be the value of a header: visible ASCII, with spaces
// and tabs only inside.
func ValidHeaderValue(s string) bool { return headerValue.MatchString(s) }

// DeliveryHeader carries the delivery's id in every request to an endpoint.
const DeliveryHeader = "X-Webhook-Delivery"

// ChallengeType is the type of the request that asks the receiver of a URL for a proof.
const ChallengeType = "webhook.challenge"

// FormatDuration returns a duration with units and without trailing zero units:
// 90 s is "1m30s", 24 h is "24h".
func FormatDuration(d time.Duration) string {
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = s[:len(s)-len("0s")]
		}
	}
	return s
}

// ValidUID reports whether s can be an endpoint's uid: 1 to MaxUID letters,
// digits, underscores, dots and hyphens, without the prefix of endpoint ids, and
// not a dot segment.
func ValidUID(s string) bool {
	return isOf(s, nameChars, MaxUID) && !dotSegment(s) && !strings.HasPrefix(s, endpointPrefix)
}

// dotSegment reports whether s is a dot segment (RFC 3986, section 5.2.4). HTTP
// clients and proxies remove dot segments from paths, so such a name in a path
// would lead to another resource.
func dotSegment(s string) bool { return s == "." || s == ".." }
