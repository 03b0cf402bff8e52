package retry

import (
	"errors"
	"math"
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

// unasked is the wait after a 429 that asks for none.
const unasked = time.Second

// ParseRetryAfter returns the wait of a Retry-After header (RFC 9110, section
// 10.2.3), 1 second to 366 days. The value is a number of seconds, or an HTTP date in
// one of the three formats of section 5.6.7. An absent or malformed value gives 0.
func ParseRetryAfter(value string, now time.Time) time.Duration {
	value = strings.Trim(value, " \t")
	if wait := ParseSeconds(value); wait > 0 {
		return wait
	}
	for _, layout := range []string{imfFixdate, time.RFC850, time.ANSIC} {
		// With UTC, zone names in the value are not taken for local zones.
		if t, err := time.ParseInLocation(layout, value, time.UTC); err == nil {
			return min(max(t.Sub(now), time.Second), longestAsked)
		}
	}
	return 0
}

// ParseSeconds returns the wait of a number of seconds, such as the X-RateLimit-Reset-After that
// Discord and others send beside a Retry-After in milliseconds: decimals are rounded up, to 1 second
// to 366 days. An absent or malformed value gives 0.
func ParseSeconds(value string) time.Duration {
	value = strings.Trim(value, " \t")
	seconds, err := strconv.ParseFloat(value, 64)
	if strings.Trim(value, "0123456789.") != "" || err != nil && !errors.Is(err, strconv.ErrRange) { // no sign, exponent or Inf
		return 0
	}
	return time.Duration(min(max(math.Ceil(seconds), 1), longestAsked.Seconds())) * time.Second
}

// Longest returns the longest wait that counts for the endpoint, and its name.
func Longest(e *hook.Endpoint) (most time.Duration, of string) {
	if half := e.MaxAge / 2; half > 0 && half < e.RetryAfterCap() { // time for another attempt is left
		return half, "half of the endpoint's max_age"
	}
	return e.RetryAfterCap(), "the endpoint's max_retry_after"
}

// Wait returns the wait that counts of one that an answer asked for, 0 for none, and a note
// for the history; empty if the whole wait counts. A 429 that asks for none gets a second: a receiver with a
// rate limit takes more by then, and a long hold of all deliveries would only make a burst of them.
func Wait(c hook.Class, asked time.Duration, e *hook.Endpoint) (wait time.Duration, note string) {
	most, of := Longest(e)
	if asked == 0 && c == hook.ClassThrottled {
		return min(unasked, most), ""
	}
	if asked <= most {
		return asked, ""
	}
	return most, "It asked to wait " + hook.FormatDuration(max(asked.Round(time.Second), most)) +
		", above " + of + ": " + hook.FormatDuration(most) + " counts."
}
