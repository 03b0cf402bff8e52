package retry

import (
	"strconv"
	"strings"
	"time"

	"surehook.example/surehook/internal/hook"
)

// longestAsked is the longest wait that the parsers return. It is above every endpoint's cap, so
// that the history can say what an answer asked for.
const longestAsked = 366 * 24 * time.Hour

// imfFixdate is the preferred date format of HTTP (RFC 9110, section 5.6.7).
const imfFixdate = "Mon, 02 Jan 2006 15:04:05 GMT"

// ParseRetryAfter returns the wait of a Retry-After header (RFC 9110, section
// 10.2.3), at most 366 days. The value is a number of seconds, or an HTTP date in
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
			return min(max(t.Sub(now), 0), longestAsked)
		}
	}
	return 0
}

// deltaSeconds parses one or more digits. It stops counting at longestAsked, so numbers too
// large for an integer are valid.
func deltaSeconds(value string) (wait time.Duration, ok bool) {
	if value == "" {
		return 0, false
	}
	for _, c := range []byte(value) {
		if c < '0' || c > '9' {
			return 0, false
		}
		wait = min(wait*10+time.Duration(c-'0')*time.Second, longestAsked)
	}
	return wait, true
}

// ParseResetAfter returns the wait of an X-RateLimit-Reset-After header, as Discord and others
// send it beside a Retry-After that some of them give in milliseconds: a number of seconds,
// which may have decimals. ok is false for an absent or malformed value. The wait is at most 366
// days.
func ParseResetAfter(value string) (wait time.Duration, ok bool) {
	value = strings.Trim(value, " \t")
	if strings.Trim(value, "0123456789.") != "" { // no sign, exponent or Inf
		return 0, false
	}
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return 0, false
	}
	return time.Duration(min(seconds, longestAsked.Seconds()) * float64(time.Second)), true
}

// Cap returns the wait that counts of one that an answer of the endpoint asked for, and a note
// for the history; empty if the whole wait counts.
func Cap(asked time.Duration, e *hook.Endpoint) (wait time.Duration, note string) {
	most, of := e.RetryAfterCap(), "the endpoint's max_retry_after"
	if half := e.MaxAge / 2; half > 0 && half < most { // time for another attempt is left
		most, of = half, "half of the endpoint's max_age"
	}
	if asked <= most {
		return asked, ""
	}
	return most, "It asked to wait " + hook.FormatDuration(max(asked.Round(time.Second), most)) +
		", above " + of + ": " + hook.FormatDuration(most) + " counts."
}
