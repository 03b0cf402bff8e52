package deadletter

import (
	"net/http"
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
type Pattern uint8

// The patterns. The package comment lists the conditions; the zero Pattern is unknown.
const (
	PatternOutage         Pattern = iota + 1 // one outage, longer than the retries
	PatternDown                              // the endpoint is unreachable, repeatedly
	PatternTrickle                           // the endpoint fails occasionally
	PatternExpired                           // max_age ended the deliveries before the last attempt
	PatternCredentials                       // the endpoint rejects the credentials
	PatternThrottled                         // the rate is above the endpoint's limit
	PatternRefused                           // the endpoint rejects the content
	PatternGone                              // the endpoint answers 410
	PatternTLS                               // the certificate or the TLS version is invalid
	PatternBlocked                           // the egress policy forbids the address
	PatternRedirect                          // the URL has moved
	PatternTransformation                    // the transformation cannot shape the events
)

// String returns the pattern as it appears in the API.
func (p Pattern) String() string {
	return hook.Names[Pattern]{
		PatternOutage: "outage", PatternDown: "down", PatternTrickle: "trickle", PatternExpired: "expired",
		PatternCredentials: "credentials", PatternThrottled: "throttled", PatternRefused: "refused", PatternGone: "gone",
		PatternTLS: "tls", PatternBlocked: "blocked", PatternRedirect: "redirect", PatternTransformation: "transformation",
	}.Of(p)
}

// recognize returns the pattern of a group. inHour is the largest number of dead letters within one hour.
func recognize(g Group, inHour int) Pattern {
	clustered := inHour*100 >= g.Count*clusterPercent
	switch g.Class {
	case hook.ClassGone:
		return PatternGone
	case hook.ClassTLS:
		return PatternTLS
	case hook.ClassBlocked:
		return PatternBlocked
	case hook.ClassRedirect:
		return PatternRedirect
	case hook.ClassThrottled:
		return PatternThrottled
	case hook.ClassRefused:
		if g.Status == http.StatusUnauthorized || g.Status == http.StatusForbidden {
			return PatternCredentials
		}
		return PatternRefused
	case hook.ClassDNS, hook.ClassConnect:
		return failing(g, clustered, PatternDown)
	case hook.ClassReset, hook.ClassTimeout, hook.ClassUnavailable:
		return failing(g, clustered, PatternTrickle)
	case hook.ClassTransformation:
		return PatternTransformation
	case hook.ClassToken:
		return PatternCredentials
	case hook.ClassDelivered:
		return 0
	}
	if g.Class == 0 && g.Reason == hook.ReasonExpired {
		return PatternExpired
	}
	return 0
}

// failing returns the pattern of transient failures. fallback applies to a group
// without a cluster and without a majority of expired deliveries.
func failing(g Group, clustered bool, fallback Pattern) Pattern {
	switch {
	case clustered:
		return PatternOutage
	case g.Reason == hook.ReasonExpired:
		return PatternExpired
	}
	return fallback
}
