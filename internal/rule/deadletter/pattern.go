package deadletter

import (
	"net/http"
	"time"

	"surehook/internal/hook"
)

// What makes dead letters an outage: enough of them, and most of them close together.
const (
	minCluster     = 5         // letters
	clusterPercent = 80        // of the letters
	clusterWindow  = time.Hour // from the first to the last of them
)

// Pattern is the kind of trouble that a group of dead letters shows.
type Pattern uint8

// The patterns. Doc.go says when each applies; the zero Pattern is none of them.
const (
	PatternOutage      Pattern = iota + 1 // it was down once, for longer than its retries lasted
	PatternDown                           // it cannot be reached, again and again
	PatternTrickle                        // it fails now and then
	PatternExpired                        // max_age ended them before anything else did
	PatternCredentials                    // it does not know who sends
	PatternThrottled                      // it is sent more than it takes
	PatternRefused                        // it does not take what it is sent
	PatternGone                           // it says that it is no more
	PatternTLS                            // its certificate or its TLS is no good
	PatternBlocked                        // it is where nothing may be sent
	PatternRedirect                       // it is elsewhere
)

// String returns the pattern as it appears in the API.
func (p Pattern) String() string {
	switch p {
	case PatternOutage:
		return "outage"
	case PatternDown:
		return "down"
	case PatternTrickle:
		return "trickle"
	case PatternExpired:
		return "expired"
	case PatternCredentials:
		return "credentials"
	case PatternThrottled:
		return "throttled"
	case PatternRefused:
		return "refused"
	case PatternGone:
		return "gone"
	case PatternTLS:
		return "tls"
	case PatternBlocked:
		return "blocked"
	case PatternRedirect:
		return "redirect"
	}
	return "unknown"
}

// recognise returns the pattern of a group of which inHour letters died within one hour.
func recognise(g Group, inHour int) Pattern {
	clustered := g.Count >= minCluster && inHour*100 >= g.Count*clusterPercent
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
	case hook.ClassDelivered:
		return 0
	}
	if g.Class == 0 && g.Reason == hook.ReasonExpired {
		return PatternExpired
	}
	return 0
}

// failing returns the pattern of an endpoint that does not answer as it should;
// otherwise is the one of letters that neither cluster nor expired.
func failing(g Group, clustered bool, otherwise Pattern) Pattern {
	switch {
	case clustered:
		return PatternOutage
	case g.Reason == hook.ReasonExpired:
		return PatternExpired
	}
	return otherwise
}
