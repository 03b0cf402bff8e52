package httpapi

import (
	"time"

	"surehook/internal/hook"
)

// What is said of texts that are neither.
const (
	durationForm = `must be a duration with units, such as "90s" or "24h"`
	stampForm    = `must be a time such as "2026-11-21T09:30:00Z"`
)

// duration is a time.Duration in JSON: a string with units such as "1m30s", in
// the grammar of time.ParseDuration.
type duration time.Duration

// MarshalText writes the duration without needless zeros.
func (d duration) MarshalText() ([]byte, error) {
	return []byte(hook.FormatDuration(time.Duration(d))), nil
}

// UnmarshalText is the inverse of MarshalText.
func (d *duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return wrong(durationForm)
	}
	*d = duration(parsed)
	return nil
}

// stamp is a time in JSON: RFC 3339, written in UTC with milliseconds.
type stamp time.Time

// UnmarshalText reads any time of RFC 3339. What is finer than a millisecond is cut off.
func (s *stamp) UnmarshalText(text []byte) error {
	var t time.Time
	err := t.UnmarshalText(text)
	t = t.UTC().Truncate(time.Millisecond)
	if err != nil || t.Year() < 1970 || t.Year() > 9999 { // in UTC a year may have left the form
		return wrong(stampForm)
	}
	*s = stamp(t)
	return nil
}

// MarshalText writes the time.
func (s stamp) MarshalText() ([]byte, error) {
	return []byte(time.Time(s).UTC().Format("2006-01-02T15:04:05.000Z")), nil
}

// IsZero reports whether there is no such time.
func (s stamp) IsZero() bool { return time.Time(s).IsZero() }
