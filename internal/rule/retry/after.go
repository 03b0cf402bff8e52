package retry

import (
	"strings"
	"time"
)

// MaxRetryAfter is the longest wait that an endpoint can ask for. A longer one is cut to it: some
// receivers send milliseconds, and one such answer would close an endpoint for half a day.
const MaxRetryAfter = time.Hour

// imfFixdate is the preferred date format of HTTP (RFC 9110, section 5.6.7).
const imfFixdate = "Mon, 02 Jan 2006 15:04:05 GMT"

// ParseRetryAfter returns the wait of a Retry-After header (RFC 9110, section
// 10.2.3), 0 to MaxRetryAfter. The value is a number of seconds, or an HTTP date in
// one of the three formats of section 5.6.7. An absent, malformed or past value
// gives 0.
func ParseRetryAfter(value string, now time.Time) time.Duration {
	value = strings.Trim(value, " \t")
	if seconds, ok := deltaSeconds(value); ok {
		return seconds
	}
	for _, layout := range []string{imfFixdate, time.RFC850, time.ANSIC} {
		// With UTC, zone names in the value are not taken for local zones.
		if t, err := time.ParseInLocation(layout, value, time.UTC); err == nil {
			return min(max(t.Sub(now), 0), MaxRetryAfter)
		}
	}
	return 0
}

// deltaSeconds parses one or more digits. It stops counting at MaxRetryAfter, so numbers too
// large for an integer are valid.
func deltaSeconds(value string) (wait time.Duration, ok bool) {
	if value == "" {
		return 0, false
	}
	for _, c := range []byte(value) {
		if c < '0' || c > '9' {
			return 0, false
		}
		wait = min(wait*10+time.Duration(c-'0')*time.Second, MaxRetryAfter)
	}
	return wait, true
}
