package httpapi

import (
	"time"

	"surehook.example/surehook/internal/hook"
)

// Error messages for invalid durations and times.
const (
	durationForm = `must be a duration in h, m, s or ms, such as "90s", "1h30m" or "72h" for 3 days`
	stampForm    = `must be a time such as "2026-11-21T09:30:00Z"`
)

// maxDuration is more than any duration needs, in bytes.
const maxDuration = 100

// duration is a time.Duration in JSON: a string with units, such as "1m30s", in
// the grammar of time.ParseDuration.
type duration time.Duration

// MarshalText returns the shortest form of the duration.
func (d duration) MarshalText() ([]byte, error) {
	return []byte(hook.FormatDuration(time.Duration(d))), nil
}

// UnmarshalText is the inverse of MarshalText.
func (d *duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text[:min(len(text), maxDuration)]))
	if err != nil || len(text) > maxDuration {
		return wrong(durationForm)
	}
	*d = duration(parsed)
	return nil
}

// stamp is a time in JSON: RFC 3339, written in UTC with milliseconds.
type stamp time.Time

// UnmarshalText parses a time of RFC 3339 and truncates the time to milliseconds.
func (s *stamp) UnmarshalText(text []byte) error {
	var t time.Time
	err := t.UnmarshalText(text)
	t = t.UTC().Truncate(time.Millisecond)
	if err != nil || t.Year() < 1970 || t.Year() > 9999 { // the conversion to UTC may leave the years 1970 to 9999
		return wrong(stampForm)
	}
	*s = stamp(t)
	return nil
}

// MarshalText returns the time in UTC with milliseconds.
func (s stamp) MarshalText() ([]byte, error) {
	return []byte(time.Time(s).UTC().Format("2006-01-02T15:04:05.000Z")), nil
}

// IsZero reports whether the time is the zero time.
func (s stamp) IsZero() bool { return time.Time(s).IsZero() }
