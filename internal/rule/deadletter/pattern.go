package deadletter

import (
	"net/http"
	"slices"
	"time"

	"surehook.example/surehook/internal/hook"
)

// An outage is a group with clusterPercent of the dead letters within clusterWindow.
// Below five dead letters, this means all dead letters of the group.
const (
	clusterPercent = 80
	clusterWindow  = time.Hour
)

// Pattern is the probable cause of a group of dead letters.
type Pattern string

// The patterns, as in the API. The package comment lists the conditions.
const (
	PatternOutage         Pattern = "outage"         // one outage, longer than the retries
	PatternDown           Pattern = "down"           // the endpoint is unreachable, repeatedly
	PatternTrickle        Pattern = "trickle"        // the endpoint fails occasionally
	PatternExpired        Pattern = "expired"        // max_age ended the deliveries before the last attempt
	PatternCredentials    Pattern = "credentials"    // the endpoint rejects the credentials
	PatternThrottled      Pattern = "throttled"      // the rate is above the endpoint's limit
	PatternRefused        Pattern = "refused"        // the endpoint rejects the content
	PatternGone           Pattern = "gone"           // the endpoint answers 410
	PatternTLS            Pattern = "tls"            // the certificate or the TLS version is invalid
	PatternBlocked        Pattern = "blocked"        // the egress policy forbids the address
	PatternRedirect       Pattern = "redirect"       // the URL has moved
	PatternTransformation Pattern = "transformation" // the transformation cannot shape the events
	PatternUnknown        Pattern = "unknown"
)

// unrecognized is the suggestion without a pattern.
const unrecognized = "No rule matches this pattern: inspect the attempts of these deliveries."

// row is a row of the table in the package comment. A zero field is no condition.
type row struct {
	classes    []hook.Class
	statuses   []int
	clustered  bool        // at least clusterPercent of the letters died within clusterWindow
	reason     hook.Reason // of most letters
	pattern    Pattern
	suggestion string // to the owner: the cause, and the API field to change
}

// The rows of the table in the package comment.
//
//nolint:gochecknoglobals // a table
var (
	transient = []hook.Class{hook.ClassDNS, hook.ClassConnect, hook.ClassReset, hook.ClassTimeout, hook.ClassUnavailable}
	rows      = []row{
		{
			classes: []hook.Class{0}, reason: hook.ReasonExpired, pattern: PatternExpired,
			suggestion: "These had no attempt: they waited, parked or behind rate_per_second, for longer than max_age. " +
				"Resume or enable the endpoint, or raise max_age; then replay them.",
		},
		{
			classes: []hook.Class{hook.ClassGone}, pattern: PatternGone,
			suggestion: "The endpoint answered 410 Gone and was disabled. If it moved, set url, enable it and replay these; if not, delete it.",
		},
		{
			classes: []hook.Class{hook.ClassTLS}, pattern: PatternTLS,
			suggestion: "The endpoint's certificate cannot be verified, or there is no common TLS version. " +
				"Renew or complete the certificate for the host in url, offer TLS 1.2 or newer, and replay these.",
		},
		{
			classes: []hook.Class{hook.ClassBlocked}, pattern: PatternBlocked,
			suggestion: "The URL leads to a forbidden address or port, such as a private address. Set url to a public host, then replay these.",
		},
		{
			classes: []hook.Class{hook.ClassRedirect}, pattern: PatternRedirect,
			suggestion: "The endpoint answers with a redirect, and Surehook does not follow this redirect. Set url to the target of the redirect, then replay these.",
		},
		{
			classes: []hook.Class{hook.ClassRefused}, statuses: []int{http.StatusUnauthorized, http.StatusForbidden}, pattern: PatternCredentials,
			suggestion: "The endpoint does not accept the sender: its credentials were probably rotated. " +
				"Correct the credentials in auth or headers, or rotate the secret and hand it over; then replay these.",
		},
		{
			classes: []hook.Class{hook.ClassToken}, pattern: PatternCredentials,
			suggestion: "The token endpoint of auth gives no access token, or AWS denies the role of destination. The errors of the attempts name the answer. " +
				"Correct token_url, client_id, client_secret, scope or audience in auth, or the role and the policies; then replay these.",
		},
		{
			classes: []hook.Class{hook.ClassRefused}, pattern: PatternRefused,
			suggestion: "The endpoint refuses the requests: its contract has probably changed. " +
				"Compare an event with the contract of the receiver and correct url or event_types; then replay these.",
		},
		{
			classes: []hook.Class{hook.ClassThrottled}, pattern: PatternThrottled,
			suggestion: "The endpoint receives more requests than it accepts. Lower rate_per_second to its limit, or raise max_age and the attempts of retry; then replay these.",
		},
		{
			classes: transient, clustered: true, reason: hook.ReasonExpired, pattern: PatternOutage,
			suggestion: "At least 80 % of the deaths are within one hour: the endpoint was down until the deliveries were older than its max_age. " +
				"Replay these once it answers again, and raise max_age to outlast the next outage.",
		},
		{
			classes: transient, clustered: true, pattern: PatternOutage,
			suggestion: "At least 80 % of the deaths are within one hour: the endpoint was down for longer than its retry policy lasts. " +
				"Replay these once it answers again, and give retry more attempts or longer delays to outlast the next outage.",
		},
		{
			classes: transient, reason: hook.ReasonExpired, pattern: PatternExpired,
			suggestion: "These were older than max_age before their retries were over. " +
				"Raise max_age above what the retry policy and the longest outage or pause take together, then replay them.",
		},
		{
			classes: []hook.Class{hook.ClassDNS, hook.ClassConnect}, pattern: PatternDown,
			suggestion: "The endpoint cannot be reached, and not in one outage only. " +
				"Check the host and port in url and that the receiver runs, or pause the endpoint until it does; then replay these.",
		},
		{
			classes: []hook.Class{hook.ClassTimeout}, pattern: PatternTrickle,
			suggestion: "The endpoint is too slow now and then: let it answer first and work later. " +
				"Give retry more attempts, and lower timeout so that a stuck attempt ends sooner; then replay these.",
		},
		{
			classes: []hook.Class{hook.ClassReset, hook.ClassUnavailable}, pattern: PatternTrickle,
			suggestion: "The endpoint fails now and then, and not in one outage. Give retry more attempts or longer delays, then replay these.",
		},
		{
			classes: []hook.Class{hook.ClassTransformation}, pattern: PatternTransformation,
			suggestion: "The endpoint's transformation cannot shape these events. The errors of the attempts name the problem. " +
				"Correct transformation, try it with a preview of one of these events, and replay them.",
		},
	}
)

// recognize returns the pattern and the suggestion of the first row that applies to the group. inHour
// is the largest number of dead letters within one hour.
func recognize(g Group, inHour int) (Pattern, string) {
	clustered := inHour*100 >= g.Count*clusterPercent
	for _, r := range rows {
		if slices.Contains(r.classes, g.Class) && (r.statuses == nil || slices.Contains(r.statuses, g.Status)) &&
			(clustered || !r.clustered) && (r.reason == "" || r.reason == g.Reason) {
			return r.pattern, r.suggestion
		}
	}
	return PatternUnknown, unrecognized
}
