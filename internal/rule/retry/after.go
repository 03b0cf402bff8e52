package retry

import (
	"strings"
	"time"
)

// MaxRetryAfter is the longest wait that an endpoint can ask for.
const MaxRetryAfter = 24 * time.Hour

// imfFixdate is the date format that HTTP senders must use, RFC 9110, section 5.6.7.
const imfFixdate = "Mon, 02 Jan 2006 15:04:05 GMT"

// ParseRetryAfter returns the wait that a Retry-After header (RFC 9110,
// section 10.2.3) asks for, at most MaxRetryAfter. The value is a number of
// seconds or an HTTP date in any of the three formats that a recipient must
// accept. A value that is absent, malformed or past asks for nothing: 0.
func ParseRetryAfter(value string, now time.Time) time.Duration {
	value = strings.Trim(value, " \t")
	if seconds, ok := deltaSeconds(value); ok {
		return seconds
	}
	for _, layout := range []string{imfFixdate, time.RFC850, time.ANSIC} {
		// In UTC, so that no zone name is read as the machine's own.
		if t, err := time.ParseInLocation(layout, value, time.UTC); err == nil {
			return min(max(t.Sub(now), 0), MaxRetryAfter)
		}
	}
	return 0
}

// deltaSeconds reads one or more digits, however many: a wait too long for an
// integer is still a long wait.
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
